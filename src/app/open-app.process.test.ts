import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../test/harness/wait.js'
import type { Cli } from '../cli/command.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { App } from '../engine/open-engine.js'
import { withOpenApp } from './open-app.js'

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist')
let folder: string
let cli: Cli
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-open-house-'))
  const env = {
    HOME: folder,
    BATON_DATA: folder,
    BATON_CONFIG: join(folder, 'config.yaml'),
    BATON_LOG_FILE: join(folder, 'log'),
  }
  const screen = { width: 80, colours: false } as unknown as Cli['screen']
  cli = { env, cwd: folder, program: PROGRAM, screen, print: () => {}, note: () => {}, now: () => new Date() }
})
// A background process may still be exiting.
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

/**
 * Stores an ended session that needs a brief.
 * Its transcript is missing, so that the writer finishes at once.
 */
function storeWantedBrief(app: App): void {
  const body = JSON.stringify({ session_id: 's1', cwd: folder, hook_event_name: 'SessionStart', source: 'startup' })
  app.engine.take({ agent: 'claude-code', kind: 'SessionStart', body, env: {}, at: Date.now() }, { deliver: 'keep' })
  const ended: SessionRecord = { ...app.store.session('s1')!, state: 'ended', briefWanted: 'ended' }
  app.store.transaction(() => app.store.putSession(ended))
}
const isWanted = () => withOpenApp(cli, ({ store }) => store.session('s1')!.briefWanted ?? null)

test('work that remains while a command runs is done by a background process', async () => {
  await withOpenApp(cli, (app) => {
    storeWantedBrief(app)
    app.store.afterCommit(() => app.engine.deps.leaveWork())
  })
  await until('it is done', async () => (await isWanted()) === null)
})

test('work that nobody has done is done by the next hook, which finds it in the store', async () => {
  await withOpenApp(cli, storeWantedBrief)
  expect(await isWanted()).toBe('ended')
  const { status } = spawnSync(process.execPath, [join(PROGRAM, 'hook-engine.cjs'), 'drain'], {
    env: { ...cli.env, PATH: process.env.PATH },
  })
  expect(status).toBe(0)
  expect(await isWanted()).toBeNull()
})
