import { type FormEvent, useState } from 'react'
import type { ArchiveShown } from '../../../../src/contract/api/archives.js'
import type { ReplyOf } from '../../../../src/contract/api/routes.js'
import { type CallProblem, call, problemFrom } from '../../api.js'
import { groupedText } from '../../format.js'
import { Command, CopyButton } from '../../parts/copy-button.js'
import { Dialog } from '../../parts/dialog.js'
import { Problem } from '../../parts/faces.js'
import { quoted, shortArchive } from './words.js'

interface Props {
  archive: ArchiveShown
  subagent: string
  open: boolean
  onClose: () => void
}

/** The transcript as it was, into a file on the server's machine. */
export function RestoreDialog(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title="Restore this transcript">
      <RestoreForm {...props} />
    </Dialog>
  )
}

function RestoreForm({ archive, subagent, onClose }: Props) {
  const [to, setTo] = useState('')
  const [force, setForce] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const [done, setDone] = useState<ReplyOf<'restoreArchive'> | null>(null)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      const body = { to: to.trim(), force, subagent: subagent || null }
      setDone(await call('restoreArchive', { id: archive.archive_id, body }))
    } catch (error) {
      setProblem(problemFrom(error))
    } finally {
      setBusy(false)
    }
  }
  if (done !== null) {
    return (
      <>
        <p role="status">{groupedText(done.bytes)} bytes are written, the same that were kept. Only you can read the file:</p>
        <p className="mono words">
          {done.path} <CopyButton text={done.path} label="path" />
        </p>
        <div className="dialog-actions">
          <button type="button" className="button primary" onClick={onClose}>
            Close
          </button>
        </div>
      </>
    )
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>File on this server’s machine</span>
        <input
          name="to"
          className="mono"
          value={to}
          onChange={(event) => setTo(event.target.value)}
          placeholder="/home/me/session.jsonl"
          autoComplete="off"
          spellCheck={false}
          maxLength={4_096}
          required
        />
      </label>
      <label className="row">
        <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
        Replace the file if it is there
      </label>
      {problem !== null && <Problem problem={problem} />}
      <p className="quiet">The same in a terminal:</p>
      <Command
        text={[
          `baton archive restore ${shortArchive(archive.archive_id)} --to ${quoted(to.trim() || 'session.jsonl')}`,
          ...(subagent === '' ? [] : [`--subagent ${quoted(subagent)}`]),
          ...(force ? ['--force'] : []),
        ].join(' ')}
      />
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={busy}>
          Restore
        </button>
      </div>
    </form>
  )
}
