import { useState } from 'react'
import { dropKey, useKey } from '../../key.js'
import { useLive } from '../../live/use-live.js'
import { Command } from '../../parts/copy-button.js'
import { Confirm } from '../../parts/dialog.js'
import { FactsList } from '../../parts/facts-list.js'
import { Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { toast } from '../../parts/toast.js'
import { KeyList } from '../../shell/keys.js'
import { useCall } from '../../use-call.js'

/** What this browser may see, and for how long. */
export function ThisBrowser() {
  const key = useKey()
  const asked = useCall('access', {})
  const version = useLive((live) => live.version)
  const [open, setOpen] = useState(false)
  const forget = (): void => {
    if (key !== null) dropKey(key)
    setOpen(false)
    toast('The key of this browser is forgotten')
  }
  return (
    <Section title="This browser">
      <FactsList
        facts={[
          ['Baton', asked.data?.version ?? version],
          ['Sees', asked.data === null ? null : asked.data.words ? 'figures and words, and may change things' : 'figures only'],
          [
            'Key',
            key === null ? (
              'none'
            ) : asked.data?.expires_at ? (
              <span key="key">
                valid, ends <RelativeTime at={asked.data.expires_at} />
              </span>
            ) : (
              'kept in this browser'
            ),
          ],
        ]}
      />
      <div className="settings-access">
        {key === null ? (
          <>
            <p>A key lets this browser read conversations, briefs and archives, and change things. In a terminal of yours:</p>
            <Command text="baton open" />
            <p>
              Or <a href="#access">paste the server’s token</a>.
            </p>
          </>
        ) : (
          <button type="button" className="button" onClick={() => setOpen(true)}>
            Forget this browser’s key…
          </button>
        )}
      </div>
      <Confirm open={open} title="Forget the key" yes="Forget it" onYes={forget} onClose={() => setOpen(false)}>
        <p>
          This browser sees figures only from then on. <code>baton open</code> lets it in again. Keys of other browsers stay;
          deleting the server’s token file ends them all.
        </p>
      </Confirm>
    </Section>
  )
}

export function KeyHelp() {
  return (
    <Section title="Keys">
      <KeyList />
    </Section>
  )
}
