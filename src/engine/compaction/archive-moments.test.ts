import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../config/load-config.js'
import { openApp } from '../open-engine.js'
import * as rareWork from '../rare-work.js'

function openHome(config = '') {
  const dir = mkdtempSync(join(tmpdir(), 'baton-moments-'))
  const home = join(dir, 'baton')
  mkdirSync(home, { mode: 0o700 })
  if (config !== '') writeFileSync(join(home, 'config.yaml'), config)
  const app = openApp({ env: { HOME: dir, BATON_HOME: home }, loadConfig, rareWork: () => rareWork })
  onTestFinished(() => {
    app.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const transcript = join(dir, 's1.jsonl')
  const send = (event: string, body: object, env: Record<string, string>): void => {
    app.engine.take(
      {
        agent: 'claude-code',
        kind: event,
        body: JSON.stringify({
          hook_event_name: event,
          session_id: 's1',
          transcript_path: transcript,
          cwd: dir,
          ...body,
        }),
        env: { HOME: dir, ...env },
        at: Date.now(),
      },
      { deliver: 'keep' },
    )
  }
  const runSession = (env: Record<string, string>): string[] => {
    writeFileSync(transcript, '{"type":"user","message":{"role":"user","content":"hello"}}\n')
    send('SessionStart', { source: 'startup' }, env)
    send('UserPromptSubmit', { prompt: 'hello' }, env)
    send('PreCompact', { trigger: 'auto', custom_instructions: null }, env)
    send('SessionEnd', { reason: 'other' }, env)
    return app.store.archives().map(({ trigger }) => trigger)
  }
  return { runSession }
}

test('a session is archived before a compaction and at its end by default', () => {
  expect(openHome().runSession({ CLAUDE_CODE_SESSION_ATTENDED: '1' })).toEqual(['auto', 'session-end'])
})

test('a session whose client does not tell whether it is attended is archived at its end', () => {
  expect(openHome().runSession({})).toEqual(['auto', 'session-end'])
})

test('a headless run outside of jobs is archived only before a compaction', () => {
  expect(openHome().runSession({ CLAUDE_CODE_SESSION_ATTENDED: '0' })).toEqual(['auto'])
})

test('a session is not archived at its end where the configuration leaves that moment out', () => {
  expect(openHome('archive:\n  at: [pre-compact]\n').runSession({ CLAUDE_CODE_SESSION_ATTENDED: '1' })).toEqual([
    'auto',
  ])
})

test('nothing is archived where archiving is turned off', () => {
  expect(openHome('archive:\n  enabled: false\n').runSession({ CLAUDE_CODE_SESSION_ATTENDED: '1' })).toEqual([])
})
