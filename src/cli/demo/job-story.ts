import type { Event } from '../../contract/event.js'
import type { CheckResult } from '../../contract/job.js'
import { grouped } from '../../policy/numbers.js'
import type { Paint } from '../render/screen.js'
import { type Briefs, briefLine, OPENING, type Story, type Told, tell } from './story.js'

/** Before the first session of a job. */
export const JOB_OPENING: Story = { ...OPENING, session: 0 }

/** One event of a job: sessions are numbered, and levels are left aside, as a job is handed over by its own threshold. */
export function tellJob(story: Story, event: Event, paint: Paint, briefs: Briefs = () => null): Told {
  const { data } = event
  switch (event.type) {
    case 'session_started': {
      const number = (story.session ?? 0) + 1
      const how = number === 1 ? 'begins with the task' : 'begins with the task and the brief'
      return {
        story: { ...story, session: number, sessionId: story.sessionId ?? event.session_id, used: null, percent: null },
        line: `${paint('●', 'bold')} session ${number} ${how}`,
      }
    }
    case 'reading':
      return tell(story, event, paint)
    case 'handoff_started': {
      const line = `${paint('◆', 'cyan')} ${grouped(Number(data.inputTokens))} tokens: stopped between two steps, asked for its brief`
      return { story, line }
    }
    case 'handoff_completed':
      return { story, line: briefLine(briefs(String(data.brief_id)), paint) }
    case 'job_completed':
      return { story, line: `${paint('●', 'bold')} the job is ${paint('completed', 'green')}: its checks say so, not the agent` }
    case 'job_failed':
      return { story, line: `${paint('●', 'bold')} the job ${paint('failed', 'red')}: ${data.detail}` }
    default:
      return { story, line: null }
  }
}

/** What a round of checks found, in order. */
export function checkLines(checks: readonly CheckResult[], round: number, paint: Paint): string[] {
  const these = checks.filter((one) => one.round === round)
  if (these.length === 0) return []
  const bad = these.some(({ ok }) => !ok)
  return [
    `${paint('◆', 'cyan')} the agent says it is done; Baton runs the checks${round === 1 ? '' : ' again'}`,
    ...these.map(({ name, ok, exitCode }) =>
      ok ? `  ${paint('✓', 'green')} ${name}` : `  ${paint('✗', 'red')} ${name} ${paint(`(exit ${exitCode ?? '–'})`, 'dim')}`,
    ),
    ...(bad ? [`  ${paint('given back', 'yellow')}: the agent hears what failed, in the same session`] : []),
  ]
}
