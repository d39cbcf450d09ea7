import { createRequire } from 'node:module'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PageStage, pageStage } from './browser.js'

const { DatabaseSync } = createRequire(import.meta.url)(
  '@photostructure/sqlite',
) as typeof import('@photostructure/sqlite')
const [SESSIONS, READINGS, BURST, TABS] = [500, 50_000, 1_000, 10]

let stage: PageStage
/** Store opened directly, as by another Baton process, without the server. */
let store: InstanceType<typeof DatabaseSync>
beforeAll(async () => {
  stage = await pageStage()
  for (let from = 0; from < SESSIONS; from += 50)
    await Promise.all(Array.from({ length: 50 }, (_, n) => begin(`crowd-${String(from + n).padStart(3, '0')}`)))
  store = new DatabaseSync(path.join(stage.batonHome, 'baton.db'))
  store.exec('PRAGMA busy_timeout = 10000')
  await begin('long')
  climb('long', READINGS)
})
afterAll(async () => {
  store.close()
  await stage.close()
})

async function begin(session: string): Promise<void> {
  const cwd = `/srv/${session}`
  await stage.hook('print.UserPromptSubmit', session, { cwd, prompt: session })
  await stage.status(session, 30_000, { cwd, workspace: { current_dir: cwd, project_dir: cwd } })
}

/** Adds readings to a session: 500 per cycle, five seconds apart, older than its other data. */
function climb(session: string, count: number): void {
  store
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
       INSERT INTO events (id, type, at, session_id, seat_id, data)
         SELECT i - ?1 - 1, 'reading', strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (5 * (i - ?1)) || ' seconds'), ?2, NULL,
           json_object('used_tokens', 20000 + 270 * (i % 500), 'window_tokens', 200000, 'compaction_tokens', 167000,
             'model', NULL, 'source', 'status_line', 'exact', json('true'), 'cycle', i / 500 - 100) FROM n`,
    )
    .run(count, session)
}

function write(session: string, count: number): void {
  const { seat_id } = store.prepare('SELECT seat_id FROM sessions WHERE session_id = ?').get(session) as {
    seat_id: string
  }
  const insert = store.prepare('INSERT INTO events (type, at, session_id, seat_id, data) VALUES (?, ?, ?, ?, ?)')
  store.exec('BEGIN IMMEDIATE')
  for (let n = 0; n < count; n++)
    insert.run('guard_tripped', new Date().toISOString(), session, seat_id, '{"guard":"crowd"}')
  store.exec('COMMIT')
}

/** Script that sends a request to the server from within the page. */
const ASK =
  "fetch('/api/access', { headers: { Authorization: 'Bearer ' + localStorage.getItem('baton.key') } " +
  '}).then((reply) => reply.status)'

describe('a crowd', () => {
  test('a list of five hundred sessions can be searched, and only rows near the screen are drawn', async () => {
    const { page, faults, context } = await stage.open('/')
    const list = page.getByRole('list', { name: 'Seats' })
    const all = String(SESSIONS + 1)
    await expect.poll(() => list.getByRole('listitem').first().getAttribute('aria-setsize')).toBe(all)
    expect(await page.locator('.seat').count()).toBeLessThanOrEqual(60)
    expect(await page.locator('*').count()).toBeLessThan(4_000)
    await page.keyboard.press('/')
    await page.keyboard.type('crowd-42')
    await expect.poll(() => page.locator('.seat').count()).toBe(10)
    await page.keyboard.press('7')
    await expect.poll(() => page.locator('.seat-name').allTextContents()).toEqual(['crowd-427'])
    await page.getByRole('searchbox').fill('')
    await expect.poll(() => list.getByRole('listitem').first().getAttribute('aria-setsize')).toBe(all)
    await page.locator('.toolbar select').selectOption('name')
    await expect.poll(() => page.locator('.seat-name').first().textContent()).toBe('crowd-000')
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByRole('link', { name: 'long', exact: true }).waitFor()
    expect(await page.locator('.seat').count()).toBeLessThanOrEqual(80)
    expect(faults).toEqual([])
    await context.close()
  })

  test('fifty thousand readings are drawn as one curve that zooms and shows the pointed value', async () => {
    const { page, faults, context } = await stage.open('/sessions/long')
    // Each end of a cycle breaks the line and is counted as a reading.
    await expect
      .poll(async () => Number(await page.locator('.curve-host').getAttribute('data-readings')))
      .toBeGreaterThanOrEqual(READINGS)
    const zoomOut = page.getByRole('button', { name: 'Zoom out' })
    expect(await zoomOut.isDisabled()).toBe(true)
    for (let n = 0; n < 3; n++) await page.getByRole('button', { name: 'Zoom in' }).click()
    await expect.poll(() => zoomOut.isDisabled()).toBe(false)
    await page.locator('.curve-host .u-over').hover()
    await page.locator('.curve-reading').getByText('%').waitFor()
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await expect.poll(() => zoomOut.isDisabled()).toBe(true)
    expect(faults).toEqual([])
    await context.close()
  })

  test('ten tabs share one event stream, each gets every event, and the server still answers all of them', async () => {
    const { page: first, context } = await stage.open('/sessions/crowd-001')
    const tabs = [first]
    while (tabs.length < TABS) tabs.push((await stage.open('/sessions/crowd-001', { context })).page)
    for (const tab of tabs) await tab.getByRole('heading', { level: 1, name: /crowd-001/ }).waitFor()
    write('crowd-001', 1)
    for (const tab of tabs)
      await expect.poll(() => tab.locator('.timeline-plain', { hasText: 'crowd' }).count()).toBe(1)
    // With one stream per tab the browser would have no connection left for this request.
    for (const tab of tabs) expect(await tab.evaluate(ASK)).toBe(200)
    await context.close()
  })

  test('a thousand simultaneous events appear on the timeline once each', async () => {
    const { page, faults, context } = await stage.open('/sessions/crowd-002')
    await page.locator('.timeline-entry').first().waitFor()
    const before = await total(page)
    write('crowd-002', BURST)
    await expect.poll(() => total(page)).toBe(before + BURST)
    expect(await page.locator('.timeline-entry').count()).toBe(100)
    for (let more = page.getByRole('button', { name: /^Show more/ }); (await more.count()) > 0; ) await more.click()
    expect(await page.locator('.timeline-entry').count()).toBe(before + BURST)
    expect(faults).toEqual([])
    await context.close()
  })
})

/** Counts the timeline's entries, both shown and pending. */
async function total(page: Page): Promise<number> {
  const shown = await page.locator('.timeline-entry').count()
  const more = page.getByRole('button', { name: /^Show more/ })
  const text = (await more.count()) === 0 ? '0' : ((await more.textContent()) ?? '0')
  return shown + Number(text.replace(/\D/g, ''))
}
