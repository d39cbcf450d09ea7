import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { commandLine, withEnvironment } from '../harness/processes.js'
import { type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { BRIEF, inState, MODEL, tmuxStage } from './handoff-tmux-stage.js'

interface SentNotice {
  kind: string
  text: string
  session_id: string
}

const CONFIG = `
handoff: { bar: 0.1, review_seconds: approval }
notify:
  - { via: command, command: 'cat >> "$HOME/told"', at_most_every: 1ms }
`

const SCRIPT = {
  steps: [
    // Adjacent answers round to the same percentage, because one signal may carry both readings.
    { read: 'README.md', used: 120_008 },
    { bash: 'touch asked.txt', used: 120_108 },
    { read: 'README.md', used: 150_008 },
    { text: BRIEF, used: 150_108 },
    { text: BRIEF, used: 150_208 },
  ],
}

/** Returns the input of the configured notify command, one line per notice. */
function toldTo(it: Pick<Stage, 'home'>): SentNotice[] {
  const file = path.join(it.home.home, 'told')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  return lines.filter(Boolean).map((line) => JSON.parse(line) as SentNotice)
}

/** Waits until every notice is sent, so that no further one can follow. */
async function allSent(it: Pick<Stage, 'home'>): Promise<void> {
  const senders = (): number[] =>
    withEnvironment(`HOME=${it.home.home}`).filter((pid) => /hook-engine\S*\0notify\0/.test(commandLine(pid)))
  const store = openStore(path.join(it.home.batonHome, 'baton.db'))
  try {
    await until('every notice is sent', () => store.nextNoticeAt() === null && senders().length === 0)
  } finally {
    store.close()
  }
}

test('a level, a permission dialog and a brief to review each send the user one notice', async () => {
  // The turn crosses two levels, needs a permission between them and ends with a brief to review.
  const args = ['--permission-mode', 'default']
  const it = await tmuxStage(SCRIPT, { config: CONFIG, env: { BATON_SEAT: 'api' } }, { bypass: false, args })
  await it.tui.submit('Note each item.')
  await it.tui.waitStatus('waiting')
  await until('the permission is told', () => toldTo(it).some(({ kind }) => kind === 'permission'))
  expect(existsSync(path.join(it.home.project, 'asked.txt'))).toBe(false)
  await until(
    'the dialog closes',
    async () => {
      await it.tui.key('Enter')
      return it.tui.registry()?.status !== 'waiting'
    },
    { every: 300 },
  )
  const { briefId } = await inState(it, 'review')
  await until('the review is told', () => toldTo(it).some(({ kind }) => kind === 'review'))
  await allSent(it)
  const told = toldTo(it)
  expect(told.map(({ text }) => text).sort()).toEqual([
    expect.stringMatching(/^api: 72% full, about \d+k tokens until compaction \(warning\)$/),
    expect.stringMatching(/^api: 90% full, about \d+k tokens until compaction \(handoff\)$/),
    `api: a handoff brief waits for your review: baton handoffs approve ${briefId!.slice('brief_'.length, 14)}`,
    'api: waits for your permission',
  ])
  expect(new Set(told.map(({ session_id }) => session_id))).toEqual(new Set([it.old]))
})

test('a turn that a usage limit ends sends one notice', async () => {
  const limit = { kind: 429 as const, resets_in: 7_200, times: 'always' as const }
  const steps = [{ text: 'Never said.', fail: limit }]
  const it = await stage({ steps }, { config: CONFIG, env: { CLAUDE_CODE_MAX_RETRIES: '0' } })
  // A terminal is needed, because a print run ends without waiting for the failed turn's hook.
  const tui = await startTui(it.home, { model: MODEL })
  await tui.submit('go')
  await until('the limit is told', () => toldTo(it).length > 0)
  await allSent(it)
  expect(toldTo(it)).toMatchObject([{ kind: 'limit', text: 'Usage limit reached' }])
})
