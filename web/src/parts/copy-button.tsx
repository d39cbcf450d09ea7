import { useState } from 'react'
import { LineIcon } from './line-icon.js'
import { showToast } from './toast.js'

/** Button that copies `text`. `label` names the text: "session id", "command". */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return showToast(`This browser does not allow copying. The ${label}: ${text}`)
    }
    setDone(true)
    showToast(`Copied the ${label}`)
    setTimeout(() => setDone(false), 1_500)
  }
  return (
    <button type="button" className="copy" onClick={copy} aria-label={`Copy the ${label}`} title={`Copy the ${label}`}>
      <LineIcon size={14}>
        {done ? <path d="M2.5 7.5 5.5 10.5 11.5 3.5" /> : <path d="M4.5 4.5h7v7h-7zM9.5 4.5v-2h-7v7h2" />}
      </LineIcon>
    </button>
  )
}

/** Shell command with its copy button. */
export function ShellCommand({ text }: { text: string }) {
  return (
    <span className="command">
      <code>{text}</code>
      <CopyButton text={text} label="command" />
    </span>
  )
}

/** Shows an id, shortened if `short` is given, and copies the whole id. */
export function CopyableId({ id, label, short }: { id: string; label: string; short?: string }) {
  return (
    <span className="id nowrap">
      <code title={id}>{short ?? id}</code>
      <CopyButton text={id} label={label} />
    </span>
  )
}
