import './settings.css'
import { useState } from 'react'
import type { Doctor as DoctorView, Settings } from '../../../../src/contract/api/settings.js'
import { type CallProblem, callApi, problemFrom } from '../../api/call-api.js'
import { dropKey, useKey } from '../../api/key.js'
import { useCall } from '../../api/use-call.js'
import { useLive } from '../../live/use-live.js'
import { ShellCommand } from '../../parts/copy-button.js'
import { ConfirmDialog } from '../../parts/dialog.js'
import { FactsList } from '../../parts/facts-list.js'
import { countedNoun } from '../../parts/format.js'
import { ShortcutList } from '../../parts/keyboard.js'
import { useParameter } from '../../parts/navigation.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { Problem, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { announceToScreenReader, showToast } from '../../parts/toast.js'
import { Levels } from './levels.js'
import { policySections, switchText } from './policy-text.js'

/** The effective configuration and its files. Read-only: users change the files in an editor. */
export default function SettingsPage() {
  const [session, setSession] = useParameter('session')
  const request = useCall('config', { query: { session: session || undefined } })
  return (
    <>
      <PageHead title="Settings" label="Settings" />
      {request.problem !== null && request.data === null ? (
        <Problem problem={request.problem} retry={session === '' ? request.refetch : () => setSession('')} />
      ) : request.data === null ? (
        <Skeleton lines={8} />
      ) : (
        <>
          <ConfigurationErrors errors={request.data.errors} />
          <Levels settings={request.data} session={session} onSession={setSession} />
          <Policy settings={request.data} />
          <ConfigurationFiles settings={request.data} />
        </>
      )}
      <Doctor />
      <ThisBrowser />
      <KeyHelp />
    </>
  )
}

/** All settings except the levels as sentences, each with the key that changes it. */
function Policy({ settings }: { settings: Settings }) {
  return (
    <Section title="Policy">
      <div className="policy">
        {policySections(settings).map(({ title, statements }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <ul>
              {statements.map(({ key, value, text }) => (
                <li key={key}>
                  <span>{text}</span>
                  <code>
                    {key}
                    {value !== '' && <>: {value}</>}
                  </code>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Section>
  )
}

/** Errors in the configuration files. Shown first: a file with errors has no effect. */
function ConfigurationErrors({ errors }: { errors: Settings['errors'] }) {
  if (errors.length === 0) return null
  return (
    <div className="problem config-errors" role="alert">
      <p>
        <strong>
          {errors.length === 1 ? 'The configuration has an error' : `The configuration has ${errors.length} errors`}, so
          the last valid one stays in use.
        </strong>
      </p>
      <ul>
        {errors.map(({ key, file, line, reason, hint }) => (
          <li key={`${file} ${key} ${reason}`}>
            <p>
              <code>{key}</code> <TextWithCode text={hint === '' ? reason : `${reason}: ${hint}`} />
            </p>
            <p className="mono config-place">
              {file}
              {line !== undefined && `:${line}`}
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Shows text between backticks as code. */
function TextWithCode({ text }: { text: string }) {
  return text.split('`').map((piece, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other key and no state
    place % 2 === 1 ? <code key={place}>{piece}</code> : piece,
  )
}

function keysOf({ ignored }: NonNullable<Settings['project_file']>): string {
  return [...new Set(ignored.map(({ key }) => key))].join(', ')
}

/** The configuration files that Baton looks for, and whether each was found. */
function ConfigurationFiles({ settings }: { settings: Settings }) {
  const { files, project_file: project } = settings
  const untrusted = project !== null && !project.trusted && project.ignored.length > 0 ? project : null
  return (
    <Section title="Files">
      <p className="settings-note">
        <TextWithCode text={switchText(settings)} /> Settings that no file contains have their defaults. Once you trust
        it, a project’s <code>baton.yaml</code> overrides your own <code>config.yaml</code>.
      </p>
      <ul className="config-files">
        {files.map(({ path, exists }) => (
          <li key={path}>
            <span className="mono">{path}</span>{' '}
            <span className="quiet">
              {!exists
                ? `does not exist yet: ${path.endsWith('config.yaml') ? 'baton config init creates it' : 'create it'}`
                : path === untrusted?.path
                  ? `is not trusted (${untrusted.reason}): only new levels apply. Ignored keys: ${keysOf(untrusted)}.`
                  : 'is in use'}
            </span>
            {path === untrusted?.path && (
              <>
                {' '}
                <code>baton trust</code> <span className="quiet">accepts the file.</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Results of `baton doctor`, failed checks first, each with its fix. */
function Doctor() {
  const request = useCall('doctor', {})
  const [fresh, setFresh] = useState<DoctorView | null>(null)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const [busy, setBusy] = useState(false)
  const report = fresh ?? request.data
  const checkAgain = async (): Promise<void> => {
    setBusy(true)
    setProblem(null)
    try {
      const newReport = await callApi('doctor', { query: { fresh: '1' } })
      setFresh(newReport)
      announceToScreenReader(summary(newReport))
    } catch (error) {
      setProblem(problemFrom(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Section
      id="checks"
      title="Checks of the installation"
      aside={
        <span className="row">
          {report !== null && (
            <span className="quiet">
              {summary(report)}, <RelativeTime at={report.checked_at} />
            </span>
          )}
          <button type="button" className="button" disabled={busy || request.loading} onClick={checkAgain}>
            {busy ? 'Checking…' : 'Check again'}
          </button>
        </span>
      }
    >
      {(problem ?? request.problem) !== null && <Problem problem={(problem ?? request.problem)!} />}
      {request.loading && <Skeleton lines={8} label="Checking" />}
      {report !== null && <Checks checks={report.checks} />}
    </Section>
  )
}

function Checks({ checks }: { checks: DoctorView['checks'] }) {
  const ordered = [...checks.filter(({ ok }) => !ok), ...checks.filter(({ ok }) => ok)]
  return (
    <ul className="checks">
      {ordered.map(({ name, ok, detail, fix }) => (
        <li key={name} data-ok={ok}>
          <StateBadge state={ok ? 'ok' : 'failed'} />
          <strong>{name}</strong>
          <div>
            {detail !== null && <p className="words">{detail}</p>}
            {fix !== null && !ok && <Fix text={fix} />}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Text of a fix, with a copy button if it contains a command. */
function Fix({ text }: { text: string }) {
  const command = /\bbaton [a-z]+(?: --?[a-z-]+)*/.exec(text)?.[0]
  return (
    <>
      <p className="words">{text}</p>
      {command !== undefined && <ShellCommand text={command} />}
    </>
  )
}

function summary({ checks }: DoctorView): string {
  const failed = checks.filter(({ ok }) => !ok).length
  return failed === 0 ? `all ${checks.length} passed` : `${countedNoun(failed, 'check')} of ${checks.length} failed`
}

/** The server's version, and when this browser's key expires. */
function ThisBrowser() {
  const key = useKey()
  const request = useCall('access', {})
  const version = useLive((live) => live.version)
  const [open, setOpen] = useState(false)
  const remove = (): void => {
    if (key !== null) dropKey(key)
    setOpen(false)
    showToast('The key of this browser is removed')
  }
  return (
    <Section title="This browser">
      <FactsList
        facts={[
          ['Baton', request.data?.version ?? version],
          [
            'Key',
            request.data?.expires_at ? (
              <span key="key" data-key-ends={request.data.expires_at}>
                valid until <RelativeTime at={request.data.expires_at} />
              </span>
            ) : (
              'stored in this browser'
            ),
          ],
        ]}
      />
      <div className="settings-access">
        <button type="button" className="button" data-act="remove-key" onClick={() => setOpen(true)}>
          Remove this browser’s key…
        </button>
      </div>
      <ConfirmDialog
        open={open}
        title="Remove this browser’s key?"
        yes="Remove the key"
        onYes={remove}
        onClose={() => setOpen(false)}
      >
        <p>
          This browser is then locked until <code>baton open</code> unlocks it. Keys of other browsers stay valid until
          the server is restarted.
        </p>
      </ConfirmDialog>
    </Section>
  )
}

function KeyHelp() {
  return (
    <Section title="Keyboard shortcuts">
      <ShortcutList />
    </Section>
  )
}
