import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PageStage, pageStage, seriousFaults, sideways } from './browser.js'

let stage: PageStage
beforeAll(async () => {
  stage = await pageStage()
})
afterAll(() => stage.close())

const SECOND = { timeout: 1_500 }

describe('the overview', () => {
  test('on an empty store tells how to begin, and the first session appears without reload', async () => {
    const { page, faults } = await stage.open()
    await page.getByRole('heading', { name: 'No sessions yet' }).waitFor()
    expect(await page.locator('.begin code').allTextContents()).toEqual(['baton install', 'claude', 'baton doctor'])
    expect(page.url()).not.toContain('ticket')
    expect(await seriousFaults(page)).toEqual([])

    await stage.hook('print.SessionStart', 'one')
    await stage.hook('print.UserPromptSubmit', 'one')
    await stage.status('one', 50_000)
    const row = page.getByRole('listitem').filter({ hasText: 'shop' })
    await row.waitFor(SECOND)
    await row.getByText('30%').waitFor(SECOND)
    expect(await row.getByRole('meter').getAttribute('aria-valuetext')).toContain('50,000 of 167,000 tokens')
    await expect.poll(() => row.locator('.gauge-tick').count()).toBe(4)
    expect(faults).toEqual([])
    await page.close()
  })

  test('a critical session is an alarm the moment it becomes one, and the gauge and the list follow', async () => {
    const { page, faults } = await stage.open()
    await page.getByRole('link', { name: 'shop', exact: true }).waitFor()
    expect(await page.locator('.alarm').count()).toBe(0)
    await stage.status('one', 160_000)
    await page.locator('.alarm').filter({ hasText: 'shop is at 96% of its compaction point' }).waitFor(SECOND)
    await page.getByRole('listitem').getByText('critical').first().waitFor(SECOND)
    expect(await page.locator('[aria-live=assertive]').textContent()).toContain('96%')
    expect(faults).toEqual([])
    await page.close()
  })

  test('is searched, moved in and opened by keys, and what is searched for is in the address', async () => {
    for (const n of [1, 2, 3]) {
      const cwd = `/srv/lib-${n}`
      await stage.hook('print.SessionStart', `lib-${n}`, { cwd })
      await stage.status(`lib-${n}`, 20_000 * n, { cwd, workspace: { current_dir: cwd, project_dir: cwd } })
    }
    const { page } = await stage.open('/')
    await page.getByRole('link', { name: 'lib-3' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('lib-')
    await expect.poll(() => page.locator('.seat').count()).toBe(3)
    expect(page.url()).toContain('?q=lib-')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const focused = await page.locator(':focus').textContent()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: focused ?? '' }).waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/sessions\/lib-\d$/)
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Next and previous in a list').waitFor()
    await page.close()
  })

  test('sessions of one seat are one row, and the sessions before unfold under it', async () => {
    const seat = { BATON_SEAT: 'builder', CLAUDE_PID: String(process.pid) }
    await stage.hook('print.SessionStart', 'first', {}, seat)
    await stage.status('first', 90_000)
    await stage.hook('terminal.SessionEnd.clear', 'first', {}, seat)
    await stage.hook('terminal.SessionStart.clear', 'second', {}, seat)
    await stage.status('second', 30_000)
    const { page } = await stage.open('/')
    const row = page.getByRole('listitem').filter({ hasText: 'builder' })
    await row.getByText('18%').waitFor()
    expect(await row.count()).toBe(1)
    await row.getByRole('button', { name: '1 earlier' }).click()
    await row.getByRole('link', { name: 'first' }).waitFor()
    await page.close()
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('%s at %i pixels: nothing for axe to complain of, nothing sideways', async (theme, width) => {
    const { page, faults, context } = await stage.open('/?show=all', { theme, width })
    await page.getByRole('link', { name: 'lib-3' }).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await sideways(page)).toBeLessThanOrEqual(0)
    expect(faults).toEqual([])
    await context.close()
  })

  test('without a key shows figures and says how to get the rest; the token lets in', async () => {
    const { page, context } = await stage.open('/', { key: false })
    await page.getByText('Figures only').waitFor()
    await page.getByText('96%').first().waitFor()
    await page.getByRole('button', { name: 'Get in' }).click()
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Let in' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.getByLabel('Token').fill(readFileSync(join(stage.batonHome, 'token'), 'utf8'))
    await page.getByRole('button', { name: 'Let in' }).click()
    await page.getByText('Figures only').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('96%').first().waitFor()
    expect(await page.getByText('Figures only').count()).toBe(0)
    await context.close()
  })

  test('a browser that keeps nothing is let in for as long as the page is open, and a spent ticket is told in sentences', async () => {
    const context = await stage.browser.newContext()
    await context.addInitScript(
      `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })`,
    )
    const { page, faults } = await stage.open('/briefs', { context })
    const address = `${stage.url}/briefs#ticket=${await stage.ticket()}`
    await page.goto('about:blank')
    await page.goto(address)
    await page.getByRole('heading', { name: 'No briefs yet' }).waitFor()
    await page.getByText('This browser keeps no key: it is let in until the page is loaded again.').waitFor()
    expect(faults).toEqual([])
    await page.goto('about:blank')
    await page.goto(address)
    await page.getByText('The ticket is spent or its minute is over. baton open lets a browser in.').waitFor()
    await page.getByText('Figures only').waitFor()
    await context.close()
  })

  test('goes on by itself after the server was killed and restarted, and two tabs of one browser agree', async () => {
    const { page, context } = await stage.open('/')
    await page.getByRole('link', { name: 'shop', exact: true }).waitFor()
    const { page: other } = await stage.open('/', { context })
    await other.getByRole('link', { name: 'shop', exact: true }).waitFor()
    await stage.stopServer('SIGKILL')
    await page.getByText('Reconnecting').waitFor()
    await stage.startServer()
    await stage.status('one', 165_000)
    for (const tab of [page, other]) {
      await tab.locator('.alarm').filter({ hasText: '99%' }).waitFor()
      await tab.getByText('Live', { exact: true }).waitFor()
    }
    await context.close()
  })
})
