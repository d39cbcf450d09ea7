import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { archivesOf, finishArchives } from '../app/archives.js'
import { jobsOf } from '../app/open-jobs.js'
import { loadConfig } from '../config/load-config.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { runJob } from '../jobs/run-job.js'
import { scriptedRuntime } from '../jobs/runtimes/scripted.js'
import { ROLLOUT_AGENT, rolloutAgent, rolloutClient } from '../testing/rollout-agent/agent.js'
import { rolloutReader } from '../testing/rollout-agent/reader.js'
import { hookBody, ROLLOUT_SESSION_ID, rollout } from '../testing/rollout-agent/rollout.js'
import { aJob } from '../testing/sample-job.js'
import { agentClients, callingSession, withoutClientVariables } from './clients.js'
import { agents } from './index.js'
import { transcriptReaders } from './readers.js'

/**
 * An agent with other formats, in a folder of its own and registered only in this file.
 * A failure for this agent alone shows knowledge of Claude Code outside its folder.
 */
let folder: string
let project: string
let transcript: string
let app: App

beforeEach(() => {
  agents[ROLLOUT_AGENT] = rolloutAgent
  transcriptReaders[ROLLOUT_AGENT] = rolloutReader
  agentClients[ROLLOUT_AGENT] = rolloutClient
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-second-agent-')))
  project = join(folder, 'shop')
  transcript = join(folder, 'sessions', `rollout-2026-05-04T09-00-00-${ROLLOUT_SESSION_ID}.jsonl`)
  for (const path of [project, join(folder, 'sessions')]) mkdirSync(path)
  const env = { HOME: folder, BATON_HOME: join(folder, 'baton') }
  app = openApp({ env, loadConfig, rareWork: () => rareWork })
})

afterEach(() => {
  app.close()
  rmSync(folder, { recursive: true, force: true })
  for (const registry of [agents, transcriptReaders, agentClients]) delete registry[ROLLOUT_AGENT]
})

const write = (lines: string): void => appendFileSync(transcript, lines)

/** Sends one event of the client, one second after the previous one. */
function hook(event: string, more: object = {}): string {
  const body = hookBody(event, { cwd: project, transcript }, more)
  const raw = { agent: ROLLOUT_AGENT, kind: event, body, env: {}, at: Date.now() }
  return app.engine.take(raw, { deliver: 'answer' }).answer
}

/** Writes a model answer with a tool call and the tool's result. */
function step(id: string, used: number): string {
  write(rollout.answer(id, used, `Step ${id}.`))
  write(rollout.command(`call-${id}`, `make ${id}`, 'done'))
  return hook('PostToolUse', { tool_name: 'Bash', tool_input: { command: `make ${id}` }, tool_use_id: `call-${id}` })
}

test('a second agent is measured by its own transcript and window', () => {
  write(rollout.begin(project) + rollout.prompt('Never delete the migrations. Build the shop.'))
  hook('SessionStart', { source: 'startup' })
  step('resp-1', 60_000)
  const record = app.store.session(ROLLOUT_SESSION_ID)!
  expect(record).toMatchObject({ agent: ROLLOUT_AGENT, model: 'gpt-test', project })
  expect(record.track).toMatchObject({ used: 60_000, limits: { window: 200_000, point: 180_000 } })
  expect(app.view(record)).toMatchObject({ source: 'transcript', compaction_percent: expect.closeTo(33.3, 1) })
})

test('a second agent is warned once for each level, in the answer of its own hook', () => {
  write(rollout.begin(project))
  hook('SessionStart', { source: 'startup' })
  expect(step('resp-1', 60_000)).toBe('')
  const answer = JSON.parse(step('resp-2', 130_000)) as { hookSpecificOutput: Record<string, string> }
  expect(answer.hookSpecificOutput.hookEventName).toBe('PostToolUse')
  expect(answer.hookSpecificOutput.additionalContext).toMatch(/^\[baton\] /)
  expect(step('resp-3', 131_000)).toBe('')
  const crossed = app.store.events({ limit: 100 }).filter(({ type }) => type === 'level_crossed')
  expect(crossed.map(({ data }) => data.level)).toEqual(['notice', 'warning'])
})

test('the conversation of a second agent is archived before its compaction, found again and put back', () => {
  write(rollout.begin(project) + rollout.prompt('Never delete the migrations. Build the shop.'))
  hook('SessionStart', { source: 'startup' })
  step('resp-1', 175_000)
  hook('PreCompact', { trigger: 'auto' })
  write(rollout.compacted('The shop is being built.'))
  hook('PostCompact', { trigger: 'auto' })
  const recovery = hook('SessionStart', { source: 'compact' })
  step('resp-2', 20_000)
  const record = app.store.session(ROLLOUT_SESSION_ID)!
  expect(record.compactions).toBe(1)
  expect(record.track).toMatchObject({ used: 20_000, cycle: 2 })
  expect(recovery).toContain('Never delete the migrations')

  const archives = archivesOf(app)
  try {
    const [archive] = finishArchives(app, archives)
    expect(archive).toMatchObject({ agent: ROLLOUT_AGENT, sessionId: ROLLOUT_SESSION_ID, trigger: 'auto' })
    const [hit] = archives.search({ query: 'migrations', limit: 5 })
    expect(hit).toMatchObject({ archive_id: archive!.archiveId, kind: 'prompt' })
  } finally {
    archives.close()
  }
})

test('a job of a second agent is measured, hands over and is completed', async () => {
  const brief = '# Handoff brief\n\n## Goal and why\n\nAll steps.\n\n## Next exact step\n\nThe next one.\n'
  const runtime = scriptedRuntime({
    sessions: [
      [
        { calls: [{ input: 'one', result: 'did one' }], used: 100_000 },
        { calls: [{ input: 'two', result: 'did two' }], used: 160_000 },
        { calls: [{ input: 'three', result: 'did three' }], used: 165_000 },
      ],
      [{ text: 'All done.', used: 30_000 }],
    ],
    replies: [{ when: 'handoff brief', text: brief }],
  })
  const asked: string[] = []
  const deps = jobsOf(app, {
    env: { PATH: process.env.PATH, HOME: folder },
    limits: { jobs: 1, perAgent: null },
    async runtime(_name, _at, agent) {
      asked.push(agent)
      return runtime
    },
    terminal: null,
    tell: () => {},
  })
  const job = aJob({ state: 'pending' })
  app.store.putJob({ ...job, spec: { ...job.spec, agent: ROLLOUT_AGENT, folder: project } })
  await runJob(deps, job.jobId)

  const done = app.store.job(job.jobId)!
  expect(done).toMatchObject({ state: 'completed', handoffs: 1 })
  expect(new Set(asked)).toEqual(new Set([ROLLOUT_AGENT]))
  const sessions = app.store.sessions().filter(({ jobId }) => jobId === job.jobId)
  expect(sessions.map(({ agent }) => agent)).toEqual([ROLLOUT_AGENT, ROLLOUT_AGENT])
  expect(Math.max(...sessions.map(({ track }) => track.used ?? 0))).toBeGreaterThanOrEqual(160_000)
})

test('a command that a second agent runs knows its session and starts other clients without its variables', () => {
  const env = { CODEX_SESSION_ID: ROLLOUT_SESSION_ID, PATH: '/bin' }
  expect(callingSession(env)).toBe(ROLLOUT_SESSION_ID)
  expect(withoutClientVariables(env)).toEqual({ PATH: '/bin' })
})
