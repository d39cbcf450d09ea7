import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  COMPLETE_BRIEF,
  endTurn,
  INCOMPLETE_BRIEF,
  SESSION_A,
  SESSION_B,
  sessionEnvironment,
  startTurn,
} from '../../src/testing/cli-handoffs.js'
import { sendClientEvent, type TestHome } from '../../src/testing/cli-home.js'
import { until } from '../harness/wait.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

const EVIL = '<img src=x onerror=alert(1)>'
const BRANCH = 'fix/<svg/onload=alert(1)>'
const EDITED = `# Handoff brief\n\n## Next exact step\nRun the tests with a blue pen. ${EVIL}\n`

/** Configuration without guards, so that the second handoff may follow the first at once. */
const CONFIG = 'handoff: { bar: 0, review_seconds: 600 }\nguards: { cooldown_seconds: 0, min_new_tokens: 0 }\n'

const repository = (fixture: TestHome): Record<string, string> => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', fixture.project, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  git('init', '-q')
  git('checkout', '-q', '-b', BRANCH)
  git('commit', '-q', '--allow-empty', '-m', 'x')
  return {}
}

/** Gives a brief as the session's agent and ends its turn. */
async function hands(fixture: TestHome, session: string, text: string): Promise<{ brief_id: string; status: string }> {
  const file = fixture.put(join(fixture.dir, 'brief.md'), text)
  const ran = await fixture.run(['handoff', file, '--json', '--reason', `full ${EVIL}`], {
    env: sessionEnvironment(session),
  })
  expect(ran.stderr).toBe('')
  endTurn(fixture, session)
  return ran.json
}

const shown = async (fixture: TestHome, brief: string) =>
  (await fixture.run(['handoffs', 'show', brief, '--json'])).json

test('a brief under review is edited and approved from the page, and the next one is cancelled', async () => {
  const it = await openPage({ path: '/briefs', config: CONFIG, prepare: repository })
  const { page, fixture } = it
  await page.locator('#no-briefs').waitFor()
  await it.expectSound()

  startTurn(fixture)
  const first = await hands(fixture, SESSION_A, `${INCOMPLETE_BRIEF}\n${EVIL}\n`)
  await page.locator('#to-review').waitFor()
  await page.getByRole('timer').waitFor()
  await page
    .locator('.review-completed')
    .getByText(/last request, constraints/)
    .waitFor()
  expect(Number(await page.locator('.review-completed').getAttribute('data-missing'))).toBeGreaterThanOrEqual(2)
  // The remaining review time does not overflow into its neighbour.
  const overflow = await page.locator('.review-until').evaluate((element) => element.scrollWidth - element.clientWidth)
  expect(overflow).toBe(0)
  // The tab's title counts the one brief that waits for the user.
  await expect.poll(() => page.title()).toBe('(1) Briefs · Baton')
  expect(await page.locator('link[rel="icon"]').getAttribute('href')).toMatch(/waiting-1/)
  await it.expectSound()
  await page.locator('[data-act=read]').click()

  await page.getByRole('heading', { level: 1, name: 'Brief 1 of api' }).waitFor()
  await page.locator('h3[data-missing]').waitFor()
  const added = page.locator('.added')
  await added.getByText('Never touch legacy/a.ts.').first().waitFor()
  await page.getByText(EVIL).first().waitFor()
  await page.getByText(BRANCH).first().waitFor()
  await it.expectSound()

  await page.locator('[data-act=edit]').click()
  const held = async () => Date.parse((await shown(fixture, first.brief_id)).handoff.due_at) - Date.now() > 50 * 60_000
  await until('the brief is held while it is edited', held)
  await page.locator('#brief-text').fill(EDITED)
  await page.locator('[data-act=leave]').click()
  await until('the review continues', async () => !(await held()))
  await page.locator('[data-act=edit]').click()
  await page.locator('#brief-text').fill(EDITED)
  await it.expectSound()
  await page.locator('[data-act=save]').click()

  await page.getByRole('heading', { level: 1, name: 'Brief 2 of api' }).waitFor()
  await page.getByText(`Run the tests with a blue pen. ${EVIL}`).waitFor()
  await page.locator('[data-act=approve]').click()
  await page.locator('.brief-line .state[data-state=approved]').waitFor()
  const second = decodeURIComponent(new URL(page.url()).pathname.slice('/briefs/'.length))
  expect(await shown(fixture, second)).toMatchObject({
    author: 'user',
    status: 'approved',
    text: expect.stringContaining('blue pen'),
  })
  expect(await shown(fixture, first.brief_id)).toMatchObject({ status: 'superseded' })

  // A fresh session begins with the brief and is handed off in turn.
  const seat = { BATON_SEAT: 'api', CLAUDE_CODE_SESSION_ATTENDED: '1' }
  fixture.fill((app) => {
    sendClientEvent(app, 'SessionEnd', SESSION_A, fixture.project, { reason: 'clear' }, seat)
    sendClientEvent(app, 'SessionStart', SESSION_B, fixture.project, { source: 'clear' }, seat)
  })
  await page.getByText(/by session/).waitFor()
  startTurn(fixture, SESSION_B)
  const third = await hands(fixture, SESSION_B, COMPLETE_BRIEF)
  await page.getByRole('link', { name: 'Briefs', exact: false }).first().click()
  // The used brief leaves the list when its event reaches the page.
  const read = page.locator('[data-act=read]')
  await page.locator(`[data-brief="${third.brief_id}"]`).waitFor()
  await expect.poll(() => read.count()).toBe(1)
  await read.click()
  await page.getByRole('tab', { name: 'brief 2' }).click()
  await page.locator('.diff-line[data-kind=gone]', { hasText: 'blue pen' }).waitFor()
  await page.locator('.diff-line[data-kind=new]', { hasText: 'Never touch legacy/a.ts.' }).first().waitFor()
  await it.expectSound()
  await page.locator('[data-act=cancel]').click()
  await page.getByRole('dialog').locator('[data-act=yes]').click()
  await page.locator('.brief-line .state[data-state=cancelled]').waitFor()
  await it.expectSound()
})
