import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { withoutClient } from './agents/claude-code/environment.js'
import { readers } from './agents/readers.js'
import type { BriefRecord } from './contract/brief.js'
import type { Event } from './contract/event.js'
import type { RuntimeName } from './contract/job.js'
import type { SessionRecord } from './contract/record.js'
import { deskFor, type LeaveDesk } from './engine/desk.js'
import type { BriefGround } from './engine/make-brief.js'
import { saidToJob } from './engine/said-to-job.js'
import type { House } from './house.js'
import type { JobLimits } from './jobs/its-turn.js'
import type { BriefDesk, JobParts } from './jobs/parts.js'
import { repositoryText } from './jobs/repository-text.js'
import type { Runtime } from './jobs/runtimes/runtime.js'
import { observer } from './jobs-observer.js'
import { BatonError, EXIT, reasonOf } from './lib/errors.js'
import { gitState } from './lib/git-state.js'

export interface JobSurroundings {
  env: Record<string, string | undefined>
  limits: JobLimits
  runtime(name: RuntimeName, folder: string): Promise<Runtime>
  /** Events of the jobs that run here, once they are stored. */
  tell(events: readonly Event[]): void
}

/** What jobs need of a house: the engine measures their sessions and makes their briefs, as it does for any other. */
export function jobsOf(house: House, around: JobSurroundings): JobParts {
  const { store, log, engine } = house
  const env = withoutClient(around.env)
  const sessionOf = (sessionId: string): SessionRecord => {
    const record = store.session(sessionId)
    if (record !== null) return record
    throw new BatonError(`Nothing is known of the session ${sessionId}.`, '', EXIT.failed)
  }
  const transcriptOf = (sessionId: string): string | null => store.session(sessionId)?.transcriptPath ?? null
  return {
    ...{ store, log, env, limits: around.limits, now: house.now, newId: house.newId, newSessionId: randomUUID },
    folderOf: (jobId) => jobFolder(house, jobId),
    runtime: around.runtime,
    briefs: briefsOf(house, sessionOf),
    ...observer(house, env),
    says(sessionId, after) {
      try {
        const { carriers } = engine.parts.agents[store.session(sessionId)?.agent ?? ''] ?? { carriers: [] }
        return saidToJob(engine.parts, sessionId, (after === 'batch' ? carriers[0] : carriers.at(-1)) ?? after)
      } catch (error) {
        log('error', 'what waits for a session of a job cannot be read', { session: sessionId, reason: reasonOf(error) })
        return null
      }
    },
    told(sessionId) {
      const [path, reader] = [transcriptOf(sessionId), readers[store.session(sessionId)?.agent ?? '']]
      const calls = new Map<string, { ok: boolean; open?: { tool: string; input: string } }>()
      if (path === null || !reader) return calls
      reader.conversation(path, {
        withoutFiles: true,
        onEntry(entry) {
          if (entry.kind === 'called')
            calls.set(entry.callId, { ok: false, open: { tool: entry.tool, input: JSON.stringify(entry.act) } })
          if (entry.kind === 'returned') calls.set(entry.callId, { ok: entry.ok !== false && !entry.interrupted })
        },
      })
      return calls
    },
    heard(sessionId, text) {
      const [path, record] = [transcriptOf(sessionId), store.session(sessionId)]
      return path !== null && engine.parts.agents[record!.agent]?.heard(path, text) === true
    },
    repository: (folder) => repositoryText(gitState(folder)),
    keep(sessionId) {
      try {
        keepTranscript(house, sessionOf(sessionId))
      } catch (error) {
        log('error', 'the transcript of a session could not be archived', { session: sessionId, reason: reasonOf(error) })
      }
    },
    tell: around.tell,
  }
}

/** Where a job's own files lie. */
export function jobFolder({ home }: Pick<House, 'home'>, jobId: string): string {
  return join(home.root, 'jobs', jobId)
}

function briefsOf({ engine, store, policyOf }: House, sessionOf: (id: string) => SessionRecord): BriefDesk {
  const { parts } = engine
  const policyHere = ({ agent, project, model, seatId }: SessionRecord) =>
    policyOf({ agent, project, model, seat: seatId }).policy
  /** Facts are read before the store is locked, as long as it takes. */
  const at = <T>(sessionId: string, work: (desk: LeaveDesk, ground: BriefGround) => T): T => {
    const record = sessionOf(sessionId)
    const read = parts.around().factsOf(parts, record)
    const ground = parts.around().briefGround({ parts, record, read })
    return store.transaction(() => work(deskFor(parts, parts.agents[record.agent]!, sessionOf(sessionId)), ground))
  }
  return {
    bar: (sessionId) => policyHere(sessionOf(sessionId)).handoff.bar,
    coverage: (sessionId, text) => at(sessionId, (desk, ground) => parts.around().coverageOf(desk, ground, text)),
    take: (sessionId, body, reason): BriefRecord =>
      at(sessionId, (desk, ground) => parts.around().takeBrief(desk, ground, { body, author: 'agent', reason })),
    write: (sessionId, reason): BriefRecord =>
      at(sessionId, (desk, ground) => parts.around().writeBrief(desk, ground, { reason, lastAnswer: null })),
    read: (brief) => parts.around().readBrief(parts, brief),
  }
}

function keepTranscript(house: House, record: SessionRecord): void {
  const { sessionId, agent, project, model, seatId, transcriptPath: transcript } = record
  const { archive } = house.policyOf({ agent, project, model, seat: seatId }).policy
  if (!archive.enabled || !archive.at.includes('handoff')) return
  house.store.transaction(() => house.planArchive({ sessionId, agent, project, trigger: 'handoff', transcript }))
  house.engine.parts.leaveWork()
}
