import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionRecord } from '../contract/record.js'
import type { House } from '../house.js'
import type { Cli } from './command.js'
import { inHouse } from './open-house.js'

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist')
let folder: string
let cli: Cli
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-open-house-'))
  const env = { HOME: folder, BATON_DATA: folder, BATON_CONFIG: join(folder, 'config.yaml'), BATON_LOG_FILE: join(folder, 'log') }
  const screen = { width: 80, colours: false } as unknown as Cli['screen']
  cli = { env, cwd: folder, program: PROGRAM, screen, print: () => {}, note: () => {}, now: () => new Date() }
})
// A process nobody waits for may still be leaving.
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

/** A session that ended, of which a brief is wanted; its transcript is gone, so that whoever looks is done at once. */
function wanted(house: House): void {
  const body = JSON.stringify({ session_id: 's1', cwd: folder, hook_event_name: 'SessionStart', source: 'startup' })
  house.engine.take({ agent: 'claude-code', kind: 'SessionStart', body, env: {}, at: Date.now() }, { deliver: 'keep' })
  const ended: SessionRecord = { ...house.store.session('s1')!, state: 'ended', briefWanted: 'ended' }
  house.store.transaction(() => house.store.putSession(ended))
}
const isWanted = () => inHouse(cli, ({ store }) => store.session('s1')!.briefWanted ?? null)

it('what is left to be done while a command runs is done by a process behind it', async () => {
  await inHouse(cli, (house) => {
    wanted(house)
    house.store.afterCommit(() => house.engine.parts.leaveWork())
  })
  const end = Date.now() + 30_000
  while ((await isWanted()) !== null && Date.now() < end) await sleep(100)
  expect(await isWanted()).toBeNull()
})

it('what nobody has done is done by the next hook, which finds it in the store', async () => {
  await inHouse(cli, wanted)
  expect(await isWanted()).toBe('ended')
  const { status } = spawnSync(process.execPath, [join(PROGRAM, 'hook-engine.cjs'), 'drain'], {
    env: { ...cli.env, PATH: process.env.PATH },
  })
  expect(status).toBe(0)
  expect(await isWanted()).toBeNull()
})
