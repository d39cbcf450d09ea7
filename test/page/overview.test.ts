import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeKey } from '../../src/server/access.js'
import { authorized, serverToken } from '../harness/server-token.js'
import { type PageStage, pageStage, seriousFaults, sideways } from './browser.js'

let stage: PageStage
beforeAll(async () => {
  stage = await pageStage()
})
afterAll(() => stage.close())

describe('the overview', () => {
  test('the overview of an empty store says how to begin, and the first session appears without a reload', async () => {
    const { page, faults } = await stage.open()
    await page.locator('#no-sessions').waitFor()
    expect(await page.locator('.first-steps code').allTextContents()).toEqual([
      'baton install',
      'claude',
      'baton doctor',
    ])
    expect(page.url()).not.toContain('ticket')
    expect(await seriousFaults(page)).toEqual([])

    await stage.hook('print.SessionStart', 'one')
    await stage.hook('print.UserPromptSubmit', 'one', { prompt: 'Fix the login' })
    await stage.status('one', 50_000)
    const row = page.getByRole('listitem').filter({ hasText: 'shop' })
    await row.waitFor()
    await row.getByText('30%').waitFor()
    expect(await row.getByRole('meter').getAttribute('aria-valuetext')).toContain('50,000 of 167,000 tokens')
    await expect.poll(() => row.locator('.gauge-tick').count()).toBe(4)
    expect(faults).toEqual([])
    await page.close()
  })

  test('the overview shows a session as an alarm as soon as it becomes critical, in gauge and list', async () => {
    const { page, faults } = await stage.open()
    await page.getByRole('link', { name: 'Fix the login', exact: true }).waitFor()
    expect(await page.locator('.alarm').count()).toBe(0)
    await stage.status('one', 160_000)
    await page.locator('.alarm[data-kind=critical]').filter({ hasText: 'Fix the login is 96%' }).waitFor()
    await page.getByRole('listitem').getByText('critical').first().waitFor()
    await page.locator('[aria-live=assertive]').getByText('96%').first().waitFor({ state: 'attached' })
    expect(faults).toEqual([])
    await page.close()
  })

  test('the overview is searched, navigated and opened by keys, and its address contains the search', async () => {
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
    await page.waitForURL((url) => url.search === '?q=lib-')
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
    await expect.poll(() => page.getByRole('dialog').locator('.keys > div').count()).toBe(11)
    await page.close()
  })

  test('a session that waits for the user is listed above a full one, unless the user sorts otherwise', async () => {
    const cwd = '/srv/asks'
    await stage.hook('print.SessionStart', 'asks', { cwd })
    await stage.hook('print.UserPromptSubmit', 'asks', { cwd, prompt: 'asks' })
    await stage.status('asks', 20_000, { cwd, workspace: { current_dir: cwd, project_dir: cwd } })
    const { page } = await stage.open('/')
    const first = page.locator('.seat-name').first()
    const ids = async (): Promise<string[]> => {
      const reply = await fetch(`${stage.url}/api/sessions`, { headers: authorized(stage.batonHome) })
      const { sessions } = (await reply.json()) as { sessions: { session_id: string }[] }
      return sessions.map(({ session_id }) => session_id)
    }
    const rows = (): Promise<(string | null)[]> =>
      page.locator('.seat-name').evaluateAll((links) => links.map((link) => link.getAttribute('title')))
    await stage.hook('terminal.PermissionRequest', 'asks', { cwd })
    await expect.poll(() => first.textContent()).toBe('asks')
    expect(await rows()).toEqual(await ids())
    await page.locator('.toolbar select').selectOption('alarms')
    await expect.poll(() => first.textContent()).toBe('Fix the login')
    expect(page.url()).toContain('sort=alarms')
    await stage.hook('terminal.SessionEnd.clear', 'asks', { cwd })
    await page.close()
  })

  test('sessions of one seat share one row of the overview, and the earlier ones unfold below it', async () => {
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
    await row.getByRole('button', { expanded: false }).click()
    await row.getByRole('link', { name: 'first' }).waitFor()
    await page.close()
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'the overview in the %s theme at %i pixels has no serious axe finding and no sideways scrolling',
    async (theme, width) => {
      const { page, faults, context } = await stage.open('/?show=all', { theme, width })
      await page.getByRole('link', { name: 'lib-3' }).waitFor()
      expect(await seriousFaults(page)).toEqual([])
      expect(await sideways(page)).toBeLessThanOrEqual(0)
      expect(faults).toEqual([])
      await context.close()
    },
  )

  test('without a key the overview says in one sentence that it is locked, and the token unlocks it', async () => {
    const { page, context, faults } = await stage.open('/', { key: false })
    await page.locator('.locked').waitFor()
    expect(await page.locator('.locked .command code').textContent()).toBe('baton open')
    expect(await page.getByText('96%').count()).toBe(0)
    expect(await seriousFaults(page)).toEqual([])
    expect(faults, 'nothing was asked that could only be refused').toEqual([])
    const token = page.locator('input[name=token]')
    await token.fill('wrong')
    await page.locator('.locked button[type=submit]').click()
    await page.getByRole('alert').waitFor()
    await token.fill(serverToken(stage.batonHome))
    await page.locator('.locked button[type=submit]').click()
    await page.getByText('96%').first().waitFor()
    await page.reload()
    await page.getByText('96%').first().waitFor()
    expect(await page.locator('.locked').count()).toBe(0)
    await context.close()
  })

  test('a key signed with another secret locks the page and is removed from the browser', async () => {
    const context = await stage.browser.newContext()
    await context.addInitScript(`localStorage.setItem('baton.key', '${makeKey('another secret', new Date()).key}')`)
    const { page } = await stage.open('/', { context })
    await page.locator('.locked').waitFor()
    expect(await page.evaluate(`localStorage.getItem('baton.key')`)).toBeNull()
    await context.close()
  })

  test('a missing page says so and links to existing ones', async () => {
    const { page, context } = await stage.open('/')
    for (const [path, title, link, href] of [
      ['/sessions/nope', 'Session nope', 'All sessions', '/?show=all'],
      ['/jobs/nope', 'Job nope', 'All jobs', '/jobs'],
      ['/briefs/nope', 'Brief nope', 'All briefs', '/briefs'],
      ['/archive/nope', 'Transcript', 'All kept transcripts', '/archive'],
      ['/no/such/page', 'Page not found', 'Overview', '/'],
    ] as const) {
      await page.goto(stage.url + path)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page.getByRole('alert').waitFor()
      const way = page.getByRole('main').getByRole('link', { name: link, exact: true })
      expect(await way.getAttribute('href'), path).toBe(href)
      expect(await page.getByRole('button', { name: 'Try again' }).count(), path).toBe(0)
      await way.click()
      await page.waitForURL(stage.url + href)
    }
    await context.close()
  })

  test('a browser without storage stays logged in while the page is open, and a used ticket is explained', async () => {
    const context = await stage.browser.newContext()
    await context.addInitScript(
      `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })`,
    )
    const { page, faults } = await stage.open('/briefs', { context })
    const address = `${stage.url}/briefs#ticket=${await stage.ticket()}`
    await page.goto('about:blank')
    // A toast disappears by itself, so the wait for it begins before the page that shows it.
    const warning = page.locator('.toasts p').waitFor()
    await page.goto(address)
    await Promise.all([page.locator('#no-briefs').waitFor(), warning])
    expect(faults).toEqual([])
    await page.goto('about:blank')
    const explanation = page.locator('.toasts p').getByText('baton open').waitFor()
    await page.goto(address)
    await explanation
    await page.locator('.locked').waitFor()
    await context.close()
  })

  test('a restarted server locks both tabs of a browser until a new ticket unlocks them', async () => {
    const { page, context } = await stage.open('/')
    await page.getByRole('link', { name: 'Fix the login', exact: true }).waitFor()
    const { page: other } = await stage.open('/', { context })
    await other.getByRole('link', { name: 'Fix the login', exact: true }).waitFor()
    await stage.stopServer('SIGKILL')
    await page.locator('.connection[data-status=lost]').waitFor()
    await stage.startServer()
    await stage.status('one', 165_000)
    for (const tab of [page, other]) await tab.locator('.locked').waitFor()
    await page.goto('about:blank')
    await page.goto(`${stage.url}/#ticket=${await stage.ticket()}`)
    await other.reload()
    for (const tab of [page, other]) {
      await tab.locator('.alarm').filter({ hasText: '99%' }).waitFor()
      await tab.locator('.connection[data-status=live]').waitFor()
    }
    await context.close()
  })
})
