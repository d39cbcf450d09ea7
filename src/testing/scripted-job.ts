import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { BriefRecord } from '../contract/records/brief.js'
import type { JobSpec } from '../contract/records/job.js'
import type { JobDependencies } from '../jobs/dependencies.js'
import { runJob } from '../jobs/run-job.js'
import { scriptedRuntime } from '../jobs/runtimes/scripted.js'
import type { RuntimeScript, ScriptedStep } from '../jobs/runtimes/scripted-steps.js'
import { silentLog } from '../lib/log.js'
import { openStore } from '../store/sqlite/sqlite.js'
import type { Store } from '../store/store.js'
import { aJob } from './sample-job.js'

/** Folder and store of the current test, for jobs whose clients follow a script. */
export let folder: string
export let store: Store

export function useJobStore(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-run-job-'))
    store = openStore(join(folder, 'baton.db'))
  })
  afterEach(() => {
    store.close()
    rmSync(folder, { recursive: true, force: true })
  })
}

export const SCRIPTED_BRIEF =
  '# Handoff brief\n\n## Goal and why\n\nAll steps.\n\n## Next exact step\n\nThe next one.\n'
export const FRESH_SESSION_PER_JOB = {
  mode: 'fresh_per_job' as const,
  expiresMs: 86_400_000,
  maxMs: null,
  resume: null,
  project: null,
}
export const briefReply = { when: 'handoff brief', text: SCRIPTED_BRIEF }
export const hookDefaults = { name: null, onEvents: null, when: null, continueOnError: true, timeoutMs: 10_000 }
export const shellHook = (command: string) => ({ ...hookDefaults, type: 'shell' as const, command })
export const scriptedStep = (n: number, used: number): ScriptedStep => ({
  calls: [{ input: `step ${n}`, result: `did ${n}` }],
  used,
})

/** Returns a brief service that behaves like the engine's, as far as a job sees it. */
function recordingBriefs(): JobDependencies['briefs'] & { kept: BriefRecord[] } {
  const kept: BriefRecord[] = []
  const bodies = new Map<string, string>()
  const keep = (sessionId: string, body: string, author: 'agent' | 'baton', reason: string): BriefRecord => {
    const brief = { briefId: `brief_${kept.length + 1}`, sessionId, author, reason, seatId: 'seat_1' } as BriefRecord
    const whole = {
      ...brief,
      sequence: kept.length + 1,
      takenAt: new Date().toISOString(),
      path: '',
      status: 'checked',
    } as BriefRecord
    kept.push(whole)
    bodies.set(whole.briefId, body)
    store.putBrief(whole)
    return whole
  }
  return {
    kept,
    minScore: () => 0.8,
    coverage: () => null,
    storeAgentBrief: (sessionId, text, reason) => keep(sessionId, text, 'agent', reason),
    writeByCode: (sessionId, reason, { text }) =>
      keep(sessionId, `# Handoff brief\n\nBy code. ${reason}\n\n${text}`, 'baton', reason),
    read: ({ briefId }) => bodies.get(briefId) ?? null,
  }
}

export function scriptedJob(script: RuntimeScript, spec: Partial<JobSpec> = {}, more: Partial<JobDependencies> = {}) {
  const runtime = scriptedRuntime(script)
  const briefs = recordingBriefs()
  const deps: JobDependencies = {
    store,
    briefs,
    now: () => new Date(),
    newId: () => randomUUID().slice(0, 8),
    newSessionId: randomUUID,
    log: silentLog,
    folderOf: (jobId) => join(folder, jobId),
    runtime: async () => runtime,
    env: { PATH: process.env.PATH! },
    sessionStarted: () => {},
    answerHook: async () => '',
    recordUsage: () => {},
    sessionEnded: () => {},
    textForNextRequest: () => null,
    limits: { jobs: 4, perAgent: null },
    returnedCalls: () => new Map(),
    transcriptHolds: () => true,
    repository: () => 'branch main',
    archiveTranscript: () => {},
    publish: () => {},
    notify: () => {},
    ...more,
  }
  const jobId = `job_${randomUUID().slice(0, 8)}`
  store.putJob(aJob({ jobId, state: 'pending', spec: { ...aJob().spec, folder, ...spec } }))
  const types = () =>
    store
      .events({ limit: 500 })
      .filter((event) => event.job_id === jobId && event.type !== 'job_progress')
      .map(({ type }) => type)
  return { runtime, briefs, deps, jobId, types, run: () => runJob(deps, jobId) }
}
