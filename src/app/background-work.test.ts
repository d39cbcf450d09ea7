import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../config/load-config.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { isWorkLeft, startHousekeeping, tidyHomeNow } from './background-work.js'

const DAY = 24 * 3_600_000

let folder: string
let now: Date
let app: App
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-serving-'))
  now = new Date()
  app = openApp({ env: { HOME: folder, BATON_HOME: folder }, loadConfig, rareWork: () => rareWork, now: () => now })
})
afterEach(() => {
  app.close()
  rmSync(folder, { recursive: true, force: true })
})

function old(): string {
  mkdirSync(app.home.live, { recursive: true })
  const path = join(app.home.live, 'aaaaaaaa-0001.json')
  writeFileSync(path, '{}')
  const then = new Date(now.getTime() - 8 * DAY)
  utimesSync(path, then, then)
  return path
}

test('a server tidies the home once a day, as hooks do without one', () => {
  const first = old()
  tidyHomeNow(app)
  expect(existsSync(first)).toBe(false)
  const second = old()
  tidyHomeNow(app)
  expect(existsSync(second)).toBe(true)
  now = new Date(now.getTime() + DAY + 1_000)
  tidyHomeNow(app)
  expect(existsSync(second)).toBe(false)
})

test('a brief whose writer died is written when a server starts', () => {
  expect(isWorkLeft(app)).toBe(false)
  const env = { HOME: folder, CLAUDE_CODE_SESSION_ATTENDED: '1' }
  const body = JSON.stringify({
    session_id: 's1',
    transcript_path: null,
    cwd: folder,
    hook_event_name: 'SessionStart',
    source: 'startup',
  })
  app.engine.take({ agent: 'claude-code', kind: 'SessionStart', body, env, at: now.getTime() }, { deliver: 'keep' })
  expect(isWorkLeft(app)).toBe(false)
  app.store.transaction(() => app.store.putSession({ ...app.store.session('s1')!, briefWanted: 'ended' }))
  expect(isWorkLeft(app)).toBe(true)
  let left = 0
  const stop = startHousekeeping(app, { leave: () => void left++ })
  stop()
  expect(left).toBe(1)
})
