import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../config/load-config.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { isEvent } from '../index.js'
import { BatonError } from '../lib/errors.js'
import { type LibraryHome, libraryHome } from './fixtures/library-home.js'

const LINES = [
  { type: 'user', message: { role: 'user', content: 'Fix the parser. Never change the public API.' } },
  {
    type: 'assistant',
    message: {
      id: 'm1',
      model: 'claude-opus-4-6',
      role: 'assistant',
      content: [{ type: 'text', text: 'I start with the tests.' }],
      usage: { input_tokens: 8, cache_read_input_tokens: 149_992, cache_creation_input_tokens: 0, output_tokens: 5 },
    },
  },
]

/** Starts a session whose client runs hooks and has a transcript. */
function startClient(home: LibraryHome) {
  const app = openApp({ env: home.env, loadConfig, rareWork: () => rareWork })
  onTestFinished(() => app.close())
  const transcript = join(home.dir, 's1.jsonl')
  const lines = LINES.map((line, n) =>
    JSON.stringify({
      ...line,
      uuid: `u${n}`,
      sessionId: 's1',
      cwd: home.project,
      timestamp: '2026-03-01T09:00:00.000Z',
    }),
  )
  writeFileSync(transcript, `${lines.join('\n')}\n`)
  const hook = (event: string, more: object = {}): void => {
    const payload = {
      session_id: 's1',
      hook_event_name: event,
      transcript_path: transcript,
      cwd: home.project,
      ...more,
    }
    const raw = { agent: 'claude-code', kind: event, body: JSON.stringify(payload), env: { HOME: home.env.HOME! } }
    app.engine.take({ ...raw, at: Date.now() }, { deliver: 'answer' })
  }
  hook('SessionStart', { source: 'startup' })
  hook('PostToolBatch', { tool_calls: [{ tool_use_id: 't1' }] })
  return { hook, transcript }
}

test('shouldAutoPause is true before a compaction and false during it', () => {
  const home = libraryHome()
  const { hook } = startClient(home)
  const tracker = home.open()
  expect(tracker.currentState()).toMatchObject({ used_tokens: 150_000, threshold_reached: 'handoff' })
  expect(tracker.shouldAutoPause()).toBe(true)
  hook('PreCompact', { trigger: 'auto', custom_instructions: null })
  expect(tracker.shouldAutoPause()).toBe(false)
  expect(tracker.usageSummary().auto_pause_active).toBe(false)
})

test('checkThresholds names the level that a given state has reached', () => {
  const tracker = libraryHome().open()
  const early = tracker.updateUsage({ input_tokens: 90_000, output_tokens: 1 })
  tracker.updateUsage({ input_tokens: 160_000, output_tokens: 1 })
  expect(tracker.checkThresholds(early)).toBe('notice')
  expect(tracker.checkThresholds({ ...early, used_tokens: 120_000 })).toBe('warning')
  expect(tracker.checkThresholds({ ...early, used_tokens: null })).toBeNull()
  expect(tracker.checkThresholds()).toBe('critical')
})

test('archive stores the transcript of a session as it is now', () => {
  const home = libraryHome()
  const { transcript } = startClient(home)
  const archive = home.open().archive('s1')
  expect(archive).toMatchObject({ session_id: 's1', trigger: 'request', status: 'kept' })
  expect(archive.sha256).toBe(createHash('sha256').update(readFileSync(transcript)).digest('hex'))
})

test('archive is refused when archiving is off and for an unknown session', () => {
  const home = libraryHome()
  startClient(home)
  home.config('archive: { enabled: false }\n')
  const tracker = home.open()
  expect(() => tracker.archive()).toThrow(/archive\.enabled/)
  expect(() => tracker.archive('nobody')).toThrow(BatonError)
})

test('writeBrief writes a brief from the transcript alone and starts no handoff', () => {
  const home = libraryHome()
  startClient(home)
  const brief = home.open().writeBrief('s1', { reason: 'the nightly run ends' })
  expect(brief).toMatchObject({ session_id: 's1', author: 'baton', status: 'written', reason: 'the nightly run ends' })
  expect(brief.text).toContain('Never change the public API')
  expect(home.look((store) => store.openHandoffs())).toEqual([])
})

test('forecast returns the steps to each level and ends with compaction', () => {
  const tracker = libraryHome().open()
  for (const used of [60_000, 70_000, 80_000]) tracker.updateUsage({ input_tokens: used, output_tokens: 1 })
  const { tokens_per_step, levels } = tracker.forecast()
  expect(tokens_per_step).toBe(10_000)
  expect(levels.at(-1)).toMatchObject({ name: 'compaction', at_tokens: 167_000, steps: 9 })
})

test('isEvent recognises events by their type and the shape of their data', () => {
  const home = libraryHome()
  home.open().updateUsage({ input_tokens: 90_000, output_tokens: 1 })
  const events: unknown[] = home.look((store) => store.events({}))
  expect(events.every((event) => isEvent(event))).toBe(true)
  const crossed = events.filter((event) => isEvent(event, 'level_crossed'))
  expect(crossed.map(({ data }) => data.level)).toEqual(['notice'])
  expect(isEvent({ ...crossed[0]!, data: {} })).toBe(false)
  expect(isEvent({ ...crossed[0]!, type: 'level_crossd' })).toBe(false)
  expect(isEvent(null)).toBe(false)
})
