import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { around } from '../../around.js'
import { loadConfig } from '../../config/load-config.js'
import { type House, openHouse } from '../../house.js'
import { isWorkLeft, keepHouse, tidyHouse } from './housekeeping.js'

const DAY = 24 * 3_600_000

let folder: string
let now: Date
let house: House
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-serving-'))
  now = new Date()
  house = openHouse({ env: { HOME: folder, BATON_HOME: folder }, loadConfig, around: () => around, now: () => now })
})
afterEach(() => {
  house.close()
  rmSync(folder, { recursive: true, force: true })
})

function old(): string {
  mkdirSync(house.home.live, { recursive: true })
  const path = join(house.home.live, 'aaaaaaaa-0001.json')
  writeFileSync(path, '{}')
  const then = new Date(now.getTime() - 8 * DAY)
  utimesSync(path, then, then)
  return path
}

it('a server tidies as hooks do without one, once a day', () => {
  const first = old()
  tidyHouse(house)
  expect(existsSync(first)).toBe(false)
  const second = old()
  tidyHouse(house)
  expect(existsSync(second)).toBe(true)
  now = new Date(now.getTime() + DAY + 1_000)
  tidyHouse(house)
  expect(existsSync(second)).toBe(false)
})

it('a brief whose writer died is seen to when a server starts', () => {
  expect(isWorkLeft(house)).toBe(false)
  const env = { HOME: folder, CLAUDE_CODE_SESSION_ATTENDED: '1' }
  const body = JSON.stringify({
    session_id: 's1',
    transcript_path: null,
    cwd: folder,
    hook_event_name: 'SessionStart',
    source: 'startup',
  })
  house.engine.take({ agent: 'claude-code', kind: 'SessionStart', body, env, at: now.getTime() }, { deliver: 'keep' })
  expect(isWorkLeft(house)).toBe(false)
  house.store.transaction(() => house.store.putSession({ ...house.store.session('s1')!, briefWanted: 'ended' }))
  expect(isWorkLeft(house)).toBe(true)
  let left = 0
  const stop = keepHouse(house, { leave: () => void left++ })
  stop()
  expect(left).toBe(1)
})
