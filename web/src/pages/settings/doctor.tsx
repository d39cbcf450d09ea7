import { useState } from 'react'
import type { Doctor as DoctorShown } from '../../../../src/contract/api/settings.js'
import { type CallProblem, call, problemFrom } from '../../api.js'
import { plural } from '../../format.js'
import { Command } from '../../parts/copy-button.js'
import { Problem, Skeleton } from '../../parts/faces.js'
import { Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { announce } from '../../parts/toast.js'
import { useCall } from '../../use-call.js'

/** Does everything work? What does not comes first, with what to do. */
export function Doctor() {
  const asked = useCall('doctor', {})
  const [fresh, setFresh] = useState<DoctorShown | null>(null)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const [busy, setBusy] = useState(false)
  const report = fresh ?? asked.data
  const again = async (): Promise<void> => {
    setBusy(true)
    setProblem(null)
    try {
      const told = await call('doctor', { query: { fresh: '1' } })
      setFresh(told)
      announce(summary(told))
    } catch (error) {
      setProblem(problemFrom(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Section
      title="Checks"
      aside={
        <span className="row">
          {report !== null && (
            <span className="quiet">
              {summary(report)}, <RelativeTime at={report.checked_at} />
            </span>
          )}
          <button type="button" className="button" disabled={busy || asked.loading} onClick={again}>
            {busy ? 'Checking…' : 'Check again'}
          </button>
        </span>
      }
    >
      {(problem ?? asked.problem) !== null && <Problem problem={(problem ?? asked.problem)!} />}
      {asked.loading && <Skeleton lines={8} label="Checking" />}
      {report !== null && <Checks checks={report.checks} />}
    </Section>
  )
}

function Checks({ checks }: { checks: DoctorShown['checks'] }) {
  const ordered = [...checks.filter(({ ok }) => !ok), ...checks.filter(({ ok }) => ok)]
  return (
    <>
      {checks.some(({ withheld }) => withheld?.includes('detail')) && (
        <p className="settings-told">
          What was found names files and sessions, so it needs a key. <a href="#access">Let this browser in</a>, or run{' '}
          <code>baton doctor</code> in a terminal.
        </p>
      )}
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
    </>
  )
}

/** A command in it can be copied. */
function Fix({ text }: { text: string }) {
  const command = /\bbaton [a-z]+(?: --?[a-z-]+)*/.exec(text)?.[0]
  return (
    <>
      <p className="words">{text}</p>
      {command !== undefined && <Command text={command} />}
    </>
  )
}

function summary({ checks }: DoctorShown): string {
  const failed = checks.filter(({ ok }) => !ok).length
  return failed === 0 ? `all ${checks.length} are well` : `${plural(failed, 'check')} of ${checks.length} failed`
}
