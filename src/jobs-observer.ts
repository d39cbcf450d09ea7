import { setTimeout as sleep } from 'node:timers/promises'
import { BLANK_SIGNAL } from './contract/blank-signal.js'
import type { AttemptRecord } from './contract/job.js'
import type { Limits, Reading } from './contract/reading.js'
import type { RawSignal, Signal } from './contract/signal.js'
import type { House } from './house.js'
import type { JobParts } from './jobs/parts.js'
import type { ContextUsage } from './jobs/runtimes/runtime.js'
import { reasonOf } from './lib/errors.js'

/** A compaction is told with the figure before it: so long a transcript that lags is waited for. */
const BEFORE_COMPACTION_MS = 700
const STEP_MS = 20

type Observer = Pick<JobParts, 'began' | 'hooked' | 'measured' | 'left'>

/** The sessions of jobs are measured as others are, by the same events, which their runner passes on: no hook has to be installed. */
export function observer({ store, engine, log, now }: House, env: Record<string, string>): Observer {
  /** What each client said of its window, which is truer than what its name says. */
  const limits = new Map<string, Limits>()
  const { agents } = engine.parts

  /** null: it failed. */
  const guarded = <T>(what: string, attempt: AttemptRecord, work: () => T): T | null => {
    try {
      return work()
    } catch (error) {
      log('error', `${what} of a job was not taken`, { session: attempt.sessionId, reason: reasonOf(error) })
      return null
    }
  }
  const environmentOf = (attempt: AttemptRecord): Record<string, string> => {
    const job = store.job(attempt.jobId)!
    const agent = agents[job.spec.agent]
    const client = { ...env, ...job.spec.env }
    const passed = (agent?.environment ?? []).flatMap((name) => (client[name] ? [[name, client[name]] as const] : []))
    return {
      ...Object.fromEntries(passed),
      ...{ BATON_JOB_ID: job.jobId, BATON_SEAT: job.seatId },
      ...(attempt.process ? { CLAUDE_PID: String(attempt.process.pid) } : {}),
      // Others are asked about its compactions too: the job itself is.
      ...{ CLAUDE_CODE_ENTRYPOINT: 'sdk-baton', CLAUDE_CODE_SESSION_ATTENDED: '0' },
    }
  }
  const take = (signal: Signal, attempt: AttemptRecord): string => {
    const told = limits.get(attempt.sessionId) ?? null
    return engine.takeSignal({ ...signal, limits: told }, { deliver: 'keep', byRunner: true }, environmentOf(attempt)).answer
  }
  /** What no hook tells in a client that is spoken to. */
  const blank = (attempt: AttemptRecord, event: string): Signal => {
    const { spec, workspace, seatId, jobId, parentSeatId } = store.job(attempt.jobId)!
    const cwd = workspace?.folder ?? spec.folder
    return {
      ...{ ...BLANK_SIGNAL, agent: spec.agent, event, at: now().getTime(), sessionId: attempt.sessionId, cwd, project: cwd },
      ...{ pid: attempt.process?.pid ?? null, attended: false, seat: seatId, parentSeat: parentSeatId, jobId },
      ...{
        model: spec.model,
        costUsd: attempt.costUsd,
        transcriptPath: store.session(attempt.sessionId)?.transcriptPath ?? null,
      },
    }
  }

  return {
    began: (attempt, source) =>
      guarded('the start', attempt, () => {
        take({ ...blank(attempt, 'SessionStart'), kind: 'session-start', start: { source } }, attempt)
        countHandoffs(attempt)
      }),
    async hooked(event, payload, attempt) {
      const { agent } = store.job(attempt.jobId)!.spec
      const raw: RawSignal = {
        ...{ agent, kind: event, body: JSON.stringify(payload), env: environmentOf(attempt), at: now().getTime() },
      }
      const end = Date.now() + BEFORE_COMPACTION_MS
      if (/compact/i.test(event)) while (Date.now() < end && !engine.settled(raw)) await sleep(STEP_MS)
      const told = guarded('a signal', attempt, () => {
        const signal = agents[agent]?.open(raw)
        return signal ? take(signal, attempt) : ''
      })
      return told ?? ''
    },
    measured(usage, attempt) {
      limits.set(attempt.sessionId, limitsOf(usage))
      // Where there is a transcript, it tells what was used, and when.
      if (usage.used > 0 && store.session(attempt.sessionId)?.transcriptPath === null)
        guarded('a figure', attempt, () => take({ ...blank(attempt, 'usage'), reading: readingOf(usage) }, attempt))
    },
    left: (attempt) =>
      guarded('the end', attempt, () => {
        take({ ...blank(attempt, 'SessionEnd'), kind: 'session-end', end: { reason: 'other' } }, attempt)
        limits.delete(attempt.sessionId)
      }),
  }

  function countHandoffs({ sessionId, jobId, briefId }: AttemptRecord): void {
    store.transaction(() => {
      const record = store.session(sessionId)
      const { handoffs } = store.job(jobId)!
      const brief = briefId === null ? null : store.brief(briefId)
      if (record && brief) store.putSession({ ...record, handoffs, lastHandoffPath: brief.path })
    })
  }
}

function readingOf({ used, model }: ContextUsage): Reading {
  return { used, usage: null, exact: true, model, source: 'query', answerId: null, stamp: null }
}

function limitsOf({ window, point, proactive }: ContextUsage): Limits {
  return { window, point, mode: proactive ? 'proactive' : 'reactive', exact: true, reason: 'the client said so' }
}
