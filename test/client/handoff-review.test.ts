import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { alive } from '../harness/processes.js'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { BRIEF, FRESH, inState, type TmuxStage, tmuxStage } from './handoff-tmux-stage.js'

const SCRIPT = {
  steps: [
    { text: 'Ready.', used: 20_008 },
    { text: BRIEF, used: 21_008 },
    { text: 'I use spaces.', used: 22_008 },
  ],
  conversations: [FRESH],
}

/** Starts a client with the plugin module and asks its idle agent for a brief. */
async function asked(seconds: number | 'approval'): Promise<TmuxStage> {
  const it = await tmuxStage(SCRIPT, {
    mod: true,
    config: `handoff: { bar: 0.1, review_seconds: ${seconds} }\n`,
  })
  await it.tui.submit('Note each item. Never change the file prices.csv.')
  await it.tui.waitIdle()
  await until('it is known to be idle', async () => (await it.sessions())[0]?.state === 'idle')
  await it.json('handoffs', 'request', it.old)
  return it
}

/** Starts such a client and waits until its brief is under review. */
async function reviewed(seconds: number | 'approval'): Promise<TmuxStage> {
  const it = await asked(seconds)
  await inState(it, 'review')
  await it.tui.waitFor(/baton\s+handoffs\s+approve/)
  return it
}

/** Sets the end of the review window into the past. */
function closeWindow(it: TmuxStage): void {
  const store = openStore(path.join(it.home.batonHome, 'baton.db'))
  try {
    store.transaction(() => {
      const handoff = store.handoffs().at(-1)!
      store.putHandoff({ ...handoff, dueAt: handoff.dueAt && new Date(Date.now() - 1).toISOString() })
    })
  } finally {
    store.close()
  }
}

const briefOf = (it: TmuxStage): string => it.handoff().briefId!
async function freshHas(it: TmuxStage, text: string): Promise<void> {
  await inState(it, 'done')
  const fresh = it.tui.sessionId()!
  expect(fresh).not.toBe(it.old)
  expect(JSON.stringify(mainRequests(it.model, fresh)[0]!.body)).toContain(text)
  expect(it.continued()).toHaveLength(1)
  expect(await it.clears()).toBe(1)
  expect(await it.events('handoff_started')).toHaveLength(1)
}

test('an idle session is cleared when the review window closes without an objection', async () => {
  const seconds = 2
  const it = await asked(seconds)
  await freshHas(it, 'because the shop opens on Monday')
  const given = mainRequests(it.model, it.old).find(({ answer }) => answer?.text === BRIEF)!
  const [started] = await it.events('handoff_started')
  expect(Date.parse(started!.at) - Date.parse(given.ended_at!)).toBeGreaterThanOrEqual(seconds * 1_000)
  await it.driverEnded()
})

test('after an edit and an approval the fresh session has the edited text and later events', async () => {
  const it = await reviewed('approval')
  const file = path.join(it.home.project, 'edited.md')
  writeFileSync(file, '# Handoff brief\n\n## Next exact step\nNote item 4 with a blue pen.\n')
  await it.json('handoffs', 'edit', briefOf(it), '--file', file)
  expect(it.handoff()).toMatchObject({ state: 'review', dueAt: null })
  await it.tui.submit('Never use tabs in done.txt.')
  await it.tui.waitFor(/I use spaces/)
  await it.tui.waitIdle()
  await until('it is known to be idle', async () => (await it.sessions())[0]?.state === 'idle')
  expect(it.handoff().state).toBe('review')
  await it.json('handoffs', 'approve', briefOf(it))
  await freshHas(it, 'Note item 4 with a blue pen.')
  const first = JSON.stringify(mainRequests(it.model, it.tui.sessionId()!)[0]!.body)
  expect(first).toContain('Found later')
  expect(first).toContain('Never use tabs in done.txt.')
  expect(first).not.toContain('the shop opens on Monday')
})

test('a turn that ends without a brief after a blocked compaction is handed off by Baton’s brief', async () => {
  const it = await tmuxStage(
    {
      steps: [
        { read: 'README.md', used: 100_008 },
        { read: 'README.md', used: 169_008 },
        { bash: 'until [ -e go ]; do sleep 0.1; done', used: 169_508 },
        { text: 'Items 1 and 2 are noted.', used: 170_008 },
      ],
      summary: 'Never asked for.',
      conversations: [FRESH],
    },
    { mod: true, config: 'handoff: { bar: 0.1, review_seconds: 600 }\ncompaction: block-and-hand-off\n' },
  )
  await it.tui.submit('Note each item. Never change the file prices.csv.')
  const own = (await inState(it, 'review')).briefId!
  await until('the tool runs', () => mainRequests(it.model, it.old).length === 3)
  closeWindow(it)
  await it.sessions()
  await inState(it, 'checked')
  expect([it.tui.sessionId(), await it.clears()]).toEqual([it.old, 0])
  writeFileSync(path.join(it.home.project, 'go'), '')
  await freshHas(it, 'Never change the file prices.csv.')
  expect(it.handoff().briefId).toBe(own)
  expect(it.model.log().filter(({ kind }) => kind === 'compaction')).toEqual([])
})

/** Kills the process that waits for the review window to close. */
async function killed(it: TmuxStage): Promise<void> {
  const { driver } = await until('somebody waits', () => (it.handoff().driver ? it.handoff() : null))
  process.kill(driver!.pid, 'SIGKILL')
  await until('it is dead', () => !alive(driver!.pid))
}

test('the next command carries out a handoff once if the process waiting for review was killed', async () => {
  const it = await reviewed(600)
  await killed(it)
  closeWindow(it)
  expect(it.handoff().state).toBe('review')
  await Promise.all([it.json('status'), it.json('status'), it.json('status')])
  await freshHas(it, 'because the shop opens on Monday')
})

test('/handoff status and approve answer in the client and never reach the model', async () => {
  const it = await reviewed('approval')
  const before = mainRequests(it.model, it.old).length
  await it.tui.submit('/handoff status')
  await it.tui.waitFor(/Handoff\s+1:.*\/handoff\s+approve/s)
  expect(it.handoff().state).toBe('review')
  expect(mainRequests(it.model, it.old)).toHaveLength(before)
  await it.tui.submit('/handoff approve')
  await freshHas(it, 'because the shop opens on Monday')
  expect(it.model.log().filter((entry) => JSON.stringify(entry.body).includes('/handoff approve'))).toEqual([])
})
