import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../config/load-config.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { BatonError } from '../lib/errors.js'
import { type LibraryHome, libraryHome } from './fixtures/library-home.js'

/** Starts a session whose client runs hooks in another environment and writes a transcript. */
function startClient(home: LibraryHome) {
  const app: App = openApp({ env: home.env, loadConfig, rareWork: () => rareWork })
  onTestFinished(() => app.close())
  const transcript = join(home.dir, 's1.jsonl')
  writeFileSync(transcript, '')
  let batch = 0
  return {
    hook(event: string, more: object = {}): void {
      const body = JSON.stringify({
        session_id: 's1',
        hook_event_name: event,
        transcript_path: transcript,
        cwd: home.project,
        ...more,
      })
      const env = { HOME: home.env.HOME!, CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' }
      app.engine.take({ agent: 'claude-code', kind: event, body, env, at: Date.now() }, { deliver: 'answer' })
    },
    answered(id: string, used: number): void {
      const usage = {
        input_tokens: 8,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: used - 8,
        output_tokens: 50,
      }
      const line = {
        type: 'assistant',
        message: { id, model: 'claude-opus-4-6', usage },
        timestamp: new Date().toISOString(),
      }
      appendFileSync(transcript, `${JSON.stringify(line)}\n`)
    },
    batch(): void {
      this.hook('PostToolBatch', { tool_calls: [{ tool_use_id: `t${batch++}` }] })
    },
  }
}

const sdk = (id: string, used: number) => ({
  type: 'assistant',
  session_id: 's1',
  parent_tool_use_id: null,
  message: {
    id,
    model: 'claude-opus-4-6',
    usage: { input_tokens: 8, cache_read_input_tokens: used - 8, output_tokens: 1 },
  },
})

test('an answer from both the library and the transcript is one reading and is spent once', () => {
  const home = libraryHome()
  const session = startClient(home)
  session.hook('SessionStart', { source: 'startup', model: 'claude-opus-4-6' })
  const tracker = home.open({ model: 'claude-opus-4-6' })
  for (const [id, used] of [
    ['m1', 20_008],
    ['m2', 40_008],
    ['m3', 50_008],
  ] as const) {
    tracker.observe(sdk(id, used))
    session.answered(id, used)
    session.batch()
  }
  expect(tracker.currentState()).toMatchObject({
    used_tokens: 50_008,
    answers: 3,
    cumulative_output_tokens: 150,
    level: 'warning',
  })
  const events = home.look((store) => store.events({ sessionId: 's1' }))
  expect(events.filter((event) => event.type === 'reading').map((event) => event.data.used_tokens)).toEqual([
    20_008, 40_008, 50_008,
  ])
  expect(events.filter((event) => event.type === 'level_crossed').map((event) => event.data.level)).toEqual([
    'notice',
    'warning',
  ])
})

test('answers that the library counted are not counted again when the transcript is found', () => {
  const home = libraryHome()
  const tracker = home.open()
  tracker.observe(sdk('m1', 20_008))
  tracker.observe(sdk('m2', 30_008))
  expect(tracker.currentState()).toMatchObject({ answers: 2, cumulative_input_tokens: 16 })
  const session = startClient(home)
  session.answered('m1', 20_008)
  session.answered('m2', 30_008)
  session.batch()
  expect(tracker.currentState()).toMatchObject({
    answers: 2,
    cumulative_input_tokens: 16,
    cumulative_output_tokens: 100,
  })
  session.answered('m3', 31_008)
  session.batch()
  expect(tracker.currentState()).toMatchObject({ used_tokens: 31_008, answers: 3, cumulative_input_tokens: 24 })
})

test('the compaction point that the client reported stays in a process with another environment', () => {
  const home = libraryHome()
  const session = startClient(home)
  session.hook('SessionStart', { source: 'startup', model: 'claude-opus-4-6' })
  session.answered('m1', 60_008)
  session.batch()
  const tracker = home.open({ project: home.dir, model: 'opus' })
  expect(tracker.updateUsage({ input_tokens: 61_000, output_tokens: 1 })).toMatchObject({
    model: 'claude-opus-4-6',
    compaction_tokens: 67_000,
    crossed: [],
  })
  session.answered('m2', 62_008)
  session.batch()
  expect(tracker.currentState()).toMatchObject({ used_tokens: 62_008, compaction_tokens: 67_000, level: 'handoff' })
  const crossings = home.look((store) =>
    store.events({ sessionId: 's1' }).filter((event) => event.type === 'level_crossed'),
  )
  expect(crossings).toHaveLength(3)
})

test('a compaction that hooks reported is not counted again from messages', () => {
  const home = libraryHome()
  const session = startClient(home)
  session.hook('SessionStart', { source: 'startup', model: 'claude-opus-4-6' })
  session.answered('m1', 60_008)
  session.batch()
  session.hook('PreCompact', { trigger: 'auto' })
  session.hook('PostCompact', { trigger: 'auto', compact_summary: 'so far so good' })
  const tracker = home.open()
  const compact_metadata = { trigger: 'auto', pre_tokens: 60_008, post_tokens: 2_000, duration_ms: 5 }
  tracker.observe({ type: 'system', subtype: 'compact_boundary', session_id: 's1', uuid: 'u1', compact_metadata })
  expect(tracker.currentState()).toMatchObject({ compactions: 1, cycle: 2, used_tokens: null })
})

test('a session that its client measures cannot be reset by the library', () => {
  const home = libraryHome()
  startClient(home).hook('SessionStart', { source: 'startup' })
  const tracker = home.open({ session: 'other' })
  expect(() => tracker.resetSession('s1')).toThrow(BatonError)
  expect(tracker.sessionId).toBe('other')
})
