import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import type { Event } from '../../src/contract/records/event.js'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { clientBinary } from '../harness/paths.js'
import { authorized } from '../harness/server-token.js'
import { type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { PATIENCE_MS, until } from '../harness/wait.js'
import { launchChromium } from './browser.js'

const MODEL = 'claude-opus-4-6'
const BRIEF = `# Handoff brief

## Goal and why
Note every item of the list in done.txt.

## Next exact step
Note item 3 in done.txt.

## Last user request
> Work through the list and note each item in done.txt.
`

let browser: Promise<Browser> | null = null
afterAll(async () => {
  await (await browser)?.close()
  browser = null
})

/** Starts a browser logged in as by `baton open` and collects its errors in `faults`. */
async function browse(
  it: Stage,
): Promise<{ page: Page; faults: string[]; open(at: string): Promise<Page>; close(): Promise<void> }> {
  browser ??= launchChromium()
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 900 } })
  context.setDefaultTimeout(PATIENCE_MS)
  const faults: string[] = []
  const open = async (at: string): Promise<Page> => {
    const page = await context.newPage()
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(at)
    return page
  }
  const { url } = JSON.parse((await it.baton('open', '--print', '--json')).stdout) as { url: string }
  return { page: await open(url), faults, open, close: () => context.close() }
}

/** Entries of a session's timeline about events of this type. */
const entry = (page: Page, type: Event['type']) => page.locator(`.timeline-entry[data-type=${type}]`)

test('a warning, a compaction and a handoff appear live in two tabs, even after the server died', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo item-1 >> done.txt', used: 60_008 },
        { bash: 'echo item-2 >> done.txt', used: 120_008 },
        // 72 % like the previous answer, so that the page keeps showing this figure.
        { text: 'Two items are noted.', used: 120_108 },
        { bash: 'ls', used: 150_008 },
        { bash: 'ls', used: 151_008 },
        { text: BRIEF, used: 152_008 },
      ],
      conversations: [
        {
          when: 'Continue the work',
          steps: [
            { bash: 'echo item-3 >> done.txt', used: 21_008 },
            { text: 'Item 3 is noted.', used: 22_008 },
          ],
        },
      ],
    },
    { handoff: true },
  )
  // With a token of the user's own the browser's key stays valid when the server is restarted.
  const tokenFile = path.join(it.home.dir, 'token')
  writeFileSync(tokenFile, 'a-secret-of-sixteen-characters\n', { mode: 0o600 })
  const server = await it.serve(0, '--token-file', tokenFile)
  const { page, faults, open, close } = await browse(it)
  try {
    await page.locator('#no-sessions').waitFor()
    const tui = await startTui(it.home, { model: MODEL })
    const old = tui.sessionId()!
    await tui.submit('Work through the list and note each item in done.txt.')
    await page.locator(`a[href="/sessions/${old}"]`).first().waitFor()
    const origin = new URL(page.url()).origin
    const tab = await open(`${origin}/sessions/${old}`)
    for (const one of [page, tab]) await one.getByText(/72%/).first().waitFor()
    await tab.locator('.timeline-warning').first().waitFor()
    await tui.waitIdle()

    server.kill('SIGKILL')
    await tab.locator('.connection[data-status=lost]').waitFor()
    await it.serve(Number(new URL(origin).port), '--token-file', tokenFile)
    await tui.submit('Go on.')
    await entry(tab, 'handoff_started').first().waitFor()
    await tui.waitFor(/Item 3 is noted/)
    const fresh = tui.sessionId()!
    expect(fresh).not.toBe(old)
    // A seat has one row, so the fresh session replaces the old one in it.
    await page.locator(`a[href="/sessions/${fresh}"]`).first().waitFor()
    const events = await it.events(undefined, old)
    const count = (type: Event['type']): number => events.filter((event) => event.type === type).length
    // Page and command are read at different times, so poll until they agree.
    for (const type of ['context_warning', 'handoff_requested', 'handoff_started'] as const)
      await expect.poll(() => entry(tab, type).count(), { message: type }).toBe(count(type))
    await tab.locator(`.strip[data-next="${fresh}"]`).waitFor()
    expect(await tab.locator(`.strip a[href="/sessions/${fresh}"]`).count()).toBe(1)
    const next = await open(`${origin}/sessions/${fresh}`)
    await entry(next, 'handoff_completed').first().waitFor()
    expect(await entry(next, 'handoff_completed').count()).toBe(1)
    expect(faults).toEqual([])
  } finally {
    await close()
  }
})

test('the page shows a real client’s compaction while it runs and after it', async () => {
  const it = await stage(
    {
      steps: [{ bash: 'echo a', used: 100_008 }, { bash: 'echo b', used: 169_008 }, 'Never said.'],
      summary: { text: 'What was done so far.', hold: 'summary' },
      after_compaction: [{ text: 'Done.', used: 31_008 }],
    },
    { server: true },
  )
  const { page, faults, open, close } = await browse(it)
  try {
    const origin = new URL(page.url()).origin
    const tui = await startTui(it.home, { model: MODEL })
    const id = tui.sessionId()!
    const tab = await open(`${origin}/sessions/${id}`)
    await tui.submit('go')
    await tab.locator('.compaction-running').waitFor()
    it.model.release('summary')
    await tab.locator('.compaction[data-outcome=completed]').waitFor()
    expect(await tab.locator('.compaction-running').count()).toBe(0)
    expect(faults).toEqual([])
  } finally {
    await close()
  }
})

test('a job started from the page runs in the chosen permission mode and can be paused there', async () => {
  const it = await stage({
    steps: [
      { bash: 'echo one > result.txt', used: 40_008 },
      { bash: 'echo two >> result.txt', used: 41_008, hold: 'second' },
      'The result is written.',
    ],
  })
  const { project } = it.home
  it.home.env.PATH = `${path.dirname(clientBinary())}:${it.home.env.PATH}`
  await it.serve()
  const { page, faults, close } = await browse(it)
  try {
    const origin = new URL(page.url()).origin
    await fetch(`${origin}/signals/claude-code/SessionStart`, {
      method: 'POST',
      headers: authorized(it.home.batonHome),
      body: JSON.stringify({ session_id: 'before', hook_event_name: 'SessionStart', cwd: project }),
    })
    await page.goto(`${origin}/jobs`)
    await page.locator('[data-act=start-job]').click()
    expect(await page.getByRole('combobox', { name: 'Agent' }).count()).toBe(0)
    await page.getByRole('textbox', { name: 'Task' }).fill('Write two lines.')
    await page.getByRole('combobox', { name: 'Permission mode' }).selectOption('bypassPermissions')
    await page.locator('#mode-help').waitFor()
    await page.getByRole('dialog').locator('button[type=submit]').click()
    await page.getByRole('heading', { level: 1, name: 'Write two lines.' }).waitFor()
    await page.getByText('bypassPermissions').first().waitFor()
    await page.getByText('echo one > result.txt').first().waitFor()
    await page.locator('[data-act=pause]').click()
    const store = openStore(path.join(it.home.batonHome, 'baton.db'))
    await until('the job is to pause after its step', () => store.openJobs().some(({ wanted }) => wanted === 'pause'))
    store.close()
    it.model.release('second')
    await page.locator('.status-note[data-about=paused]').waitFor()
    await page.locator('[data-act=resume]').click()
    await page.locator('#final-answer').waitFor()
    const { jobs } = await it.ask<{ jobs: object[] }>('jobs', 'list')
    expect(jobs).toMatchObject([{ status: 'completed', agent: null, permission_mode: 'bypassPermissions' }])
    expect(readFileSync(path.join(project, 'result.txt'), 'utf8')).toContain('one')
    expect(faults).toEqual([])
  } finally {
    await close()
  }
})
