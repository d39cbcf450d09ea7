import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sendReading, type TestHome } from '../../src/testing/cli-home.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

const SESSION = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const OTHER = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
const EVIL = '<script>alert(1)</script><img src=x onerror=alert(2)>'

const said = (type: 'user' | 'assistant', content: unknown, isSidechain = false): string => {
  const message = { id: `m${Math.random()}`, role: type, content }
  return `${JSON.stringify({ type, uuid: 'u', isSidechain, timestamp: '2026-03-01T10:00:00.000Z', message })}\n`
}
const prompt = (text: string): string => said('user', text)
const task = said('user', 'look around', true)
const answer = (text: string): string => said('assistant', [{ type: 'text', text }])
const call = (id: string, command: string): string =>
  said('assistant', [{ type: 'tool_use', id, name: 'Bash', input: { command } }])
const result = (id: string, text: string, failed = false): string =>
  said('user', [{ type: 'tool_result', tool_use_id: id, content: text, is_error: failed }])

/** Creates a session and archives its conversation. Returns the archive's id. */
async function keep(fixture: TestHome, id: string, text: string): Promise<string> {
  const path = join(fixture.project, `${id}.jsonl`)
  writeFileSync(path, text)
  fixture.fill((app) => {
    sendReading(app, { session: id, project: fixture.project })
    const record = app.store.session(id)!
    const title = { text: `Work of ${id.slice(0, 4)}`, by: 'request' as const }
    app.store.transaction(() => app.store.putSession({ ...record, title, transcriptPath: path }))
  })
  return (await fixture.run(['archive', 'keep', id, '--json'])).json.archive_id
}

/** True if the whole element is inside the window. */
const isInSight = (item: { getBoundingClientRect(): { top: number; bottom: number } }): boolean => {
  const { top, bottom } = item.getBoundingClientRect()
  return top > 0 && bottom < 900
}

test('the archive search finds text while the user types, and opens the transcript at its line', async () => {
  const { fixture, page, go, expectSound } = await openPage({ path: '/archive' })
  await page.locator('#no-archives').waitFor()
  await page.getByText('baton archive keep').waitFor()
  await expectSound()

  const turns = Array.from({ length: 400 }, (_, n) =>
    [
      prompt(`Question ${n}`),
      call(`c${n}`, `run step-${n}`),
      result(`c${n}`, `out ${n}`, n % 50 === 7),
      answer(`Answer ${n}`),
    ].join(''),
  )
  turns[300] = [
    prompt('Question 300'),
    call('c300', 'run the pangolin migration'),
    result('c300', `quokka ${EVIL}`),
  ].join('')
  const id = await keep(fixture, SESSION, turns.join(''))
  await keep(fixture, OTHER, prompt('nothing of interest'))
  await go('/archive')
  await page.getByRole('row').nth(2).waitFor()
  const [search, table] = [page.locator('.archive-search'), page.getByRole('table')]
  expect((await search.getByRole('searchbox').boundingBox())!.width).toBe((await table.boundingBox())!.width)

  await page.keyboard.press('/')
  await page.keyboard.type('quokk')
  await page.locator('#no-matches').waitFor()
  await page.keyboard.type('a')
  const hit = page.getByRole('listitem').filter({ has: page.locator('mark', { hasText: 'quokka' }) })
  await hit.waitFor()
  expect(await hit.textContent()).toContain(`${EVIL}`)
  await page.waitForURL((url) => url.search === '?q=quokka')
  await expectSound()

  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/archive\/arc_/)
  expect(page.url()).toContain(`/archive/${id}?line=1203&q=quokka`)
  const target = page.locator('[data-target]')
  await target.locator('mark', { hasText: 'quokka' }).waitFor()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Work of aaaa aaaaaaaa')
  expect(await target.textContent()).toContain('run the pangolin migration')
  await expect.poll(() => target.evaluate(isInSight)).toBe(true)
  // Scrolling in either direction loads more lines and drops distant ones.
  await page.getByText('Question 295', { exact: true }).scrollIntoViewIfNeeded()
  await page.getByText('Question 290', { exact: true }).waitFor()
  expect(await page.locator('.transcript > li').count()).toBeLessThanOrEqual(600)

  await page.locator('[data-act=end]').click()
  await page.getByText('Answer 399', { exact: true }).waitFor()
  await page.locator('.transcript-end').waitFor()
  await page.locator('input[name=line]').fill('1')
  await page.locator('.transcript-bar button[type=submit]').click()
  await page.getByText('Question 0', { exact: true }).waitFor()
  expect(await page.getByText('Answer 399', { exact: true }).count()).toBe(0)
  await page.locator('input[name=line]').fill('803')
  await page.locator('.transcript-bar button[type=submit]').click()
  await target.filter({ hasText: 'run step-200' }).waitFor()
  await expect.poll(() => target.evaluate(isInSight)).toBe(true)
})

/** Scrolls up and returns how far a visible element deviated from the scrolled distance. */
const SCROLL_UP = `(async () => {
  const item = [...document.querySelectorAll('.transcript > li')].find((each) => each.getBoundingClientRect().top > 100)
  const before = item.getBoundingClientRect().top
  const asked = Math.min(700, scrollY)
  scrollBy(0, -700)
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  return { key: item.dataset.key, off: item.isConnected ? item.getBoundingClientRect().top - before - asked : 0 }
})()`

test('a long archived transcript scrolls without jumping', async () => {
  const { fixture, page, go } = await openPage()
  const turns = Array.from(
    { length: 3_000 },
    (_, n) => prompt(`Question ${n}`) + answer(`Answer ${n}\n${'and so on\n'.repeat(n % 9)}`),
  )
  const id = await keep(fixture, SESSION, turns.join(''))
  await go(`/archive/${id}?line=3001`)
  await page.locator('[data-target]').waitFor()
  // Scroll up until the first lines are dropped: insertions above must not move visible lines.
  const seen = new Set<string>()
  for (let round = 0; round < 30; round++) {
    // Wait until the lines above are loaded, however long the server takes.
    await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(700)
    const moved = (await page.evaluate(SCROLL_UP)) as { key: string; off: number }
    seen.add(moved.key)
    expect(Math.abs(moved.off)).toBeLessThan(3)
  }
  expect(seen.size).toBeGreaterThan(20)
  expect(await page.locator('.transcript > li').count()).toBeLessThanOrEqual(600)
})

test('the page restores a transcript byte for byte and replaces a file only if the user agrees', async () => {
  const { fixture, page, go, faults, expectSound } = await openPage()
  const text = prompt(`fix the login ${EVIL}`) + answer('done').trimEnd()
  const subagents = join(fixture.project, SESSION, 'subagents')
  mkdirSync(subagents, { recursive: true })
  writeFileSync(join(subagents, 'agent-x1.jsonl'), task)
  const id = await keep(fixture, SESSION, text)
  await go(`/archive/${id}`)
  await page.getByText(`fix the login ${EVIL}`).waitFor()
  await expectSound()

  const to = join(fixture.dir, 'back.jsonl')
  const restore = async (): Promise<void> => {
    await page.locator('[data-act=restore]').click()
    await page.locator('input[name=to]').fill(to)
    await page.getByText(`baton archive restore ${id.slice(0, 12)} --to ${to}`).waitFor()
    await page.getByRole('dialog').locator('button[type=submit]').click()
  }
  await restore()
  await page.locator(`[data-bytes="${Buffer.byteLength(text)}"]`).waitFor()
  expect(readFileSync(to, 'utf8')).toBe(text)
  await page.getByRole('button', { name: 'Close' }).click()

  await restore()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  faults.length = 0 // The browser logs every refused request as an error.

  await page.getByRole('link', { name: /agent-x1/ }).click()
  await page.getByText('look around').waitFor()
  await page.locator('[data-act=restore]').click()
  await page.locator('input[name=to]').fill(to)
  await page.locator('input[name=replace]').check()
  await page.getByRole('dialog').locator('button[type=submit]').click()
  await page.locator(`[data-bytes="${Buffer.byteLength(task)}"]`).waitFor()
  expect(readFileSync(to, 'utf8')).toBe(task)
})

test('the page forgets a session only after its id was typed, and then none of its text remains', async () => {
  const { fixture, page, go, expectSound } = await openPage()
  const id = await keep(fixture, SESSION, prompt('the password is hunter2'))
  const file = (await fixture.run(['archive', 'show', id, '--json'])).json.path as string
  await go(`/archive/${id}`)
  await page.locator('[data-act=forget]').click()
  await page.locator('[data-archives="1"]').waitFor()
  const forget = page.getByRole('dialog').locator('button[type=submit]')
  expect(await forget.isDisabled()).toBe(true)
  await page.locator('input[name=sure]').fill('bbbbbb')
  expect(await forget.isDisabled()).toBe(true)
  await page.locator('input[name=sure]').fill('aaaaaa')
  await expectSound()
  await forget.click()
  await page.waitForURL(/\/archive$/)
  await page.locator('#no-archives').waitFor()
  expect(existsSync(file)).toBe(false)
  expect((await fixture.run(['archive', 'search', 'hunter2', '--json'])).json.hits).toEqual([])
})
