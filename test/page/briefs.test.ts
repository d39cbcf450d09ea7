import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { A, B, ended, inside, THIN, WHOLE, working } from '../../src/testing/cli-handoffs.js'
import { type Trial, tellEvent } from '../../src/testing/cli-home.js'
import { until } from '../harness/wait.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

const EVIL = '<img src=x onerror=alert(1)>'
const BRANCH = 'fix/<svg/onload=alert(1)>'
const EDITED = `# Handoff brief\n\n## Next exact step\nRun the tests with a blue pen. ${EVIL}\n`

/** Configuration without guards, so that the second handoff may follow the first at once. */
const CONFIG = 'handoff: { bar: 0, review_seconds: 600 }\nguards: { cooldown_seconds: 0, min_new_tokens: 0 }\n'

const repository = (trial: Trial): Record<string, string> => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', trial.project, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  git('init', '-q')
  git('checkout', '-q', '-b', BRANCH)
  git('commit', '-q', '--allow-empty', '-m', 'x')
  return {}
}

/** Gives a brief as the session's agent and ends its turn. */
async function hands(trial: Trial, session: string, text: string): Promise<{ brief_id: string; status: string }> {
  const file = trial.put(join(trial.dir, 'brief.md'), text)
  const ran = await trial.run(['handoff', file, '--json', '--reason', `full ${EVIL}`], { env: inside(session) })
  expect(ran.stderr).toBe('')
  ended(trial, session)
  return ran.json
}

const shown = async (trial: Trial, brief: string) => (await trial.run(['handoffs', 'show', brief, '--json'])).json

test('a brief under review is read, edited and approved from the page; the next one is compared with it and cancelled', async () => {
  const it = await openPage({ path: '/briefs', config: CONFIG, prepare: repository })
  const { page, trial } = it
  await page.getByRole('heading', { name: 'No briefs yet' }).waitFor()
  await it.expectSound()

  working(trial)
  const first = await hands(trial, A, `${THIN}\n${EVIL}\n`)
  await page.getByRole('heading', { name: 'To review' }).waitFor()
  await page.getByRole('timer').waitFor()
  await page.getByText(/^Baton completed it with \d+ facts: last request, constraints\./).waitFor()
  // The remaining review time does not overflow into its neighbour.
  const overflow = await page.locator('.review-until').evaluate((element) => element.scrollWidth - element.clientWidth)
  expect(overflow).toBe(0)
  // The tab's title counts the one brief that waits for the user.
  await expect.poll(() => page.title()).toBe('(1) Briefs · Baton')
  expect(await page.locator('link[rel="icon"]').getAttribute('href')).toMatch(/waiting-1/)
  await it.expectSound()
  await page.getByRole('link', { name: 'Read it' }).click()

  await page.getByRole('heading', { level: 1, name: 'Brief 1 of api' }).waitFor()
  await page.getByText('It lacked, and Baton added').waitFor()
  const added = page.getByRole('region', { name: 'Added by Baton' })
  await added.getByText('Never touch legacy/a.ts.').first().waitFor()
  await page.getByText(EVIL).first().waitFor()
  await page.getByText(BRANCH).first().waitFor()
  await it.expectSound()

  await page.getByRole('button', { name: 'Edit' }).click()
  const held = async () => Date.parse((await shown(trial, first.brief_id)).handoff.due_at) - Date.now() > 50 * 60_000
  await until('it is not used while somebody writes', held)
  await page.getByRole('textbox', { name: 'Text of the brief' }).fill(EDITED)
  await page.getByRole('button', { name: 'Discard' }).click()
  await until('the review goes on', async () => !(await held()))
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Text of the brief' }).fill(EDITED)
  await it.expectSound()
  await page.getByRole('button', { name: 'Save as new brief' }).click()

  await page.getByRole('heading', { level: 1, name: 'Brief 2 of api' }).waitFor()
  await page.getByText(`Run the tests with a blue pen. ${EVIL}`).waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('approved', { exact: true }).first().waitFor()
  const second = decodeURIComponent(new URL(page.url()).pathname.slice('/briefs/'.length))
  expect(await shown(trial, second)).toMatchObject({
    author: 'user',
    status: 'approved',
    text: expect.stringContaining('blue pen'),
  })
  expect(await shown(trial, first.brief_id)).toMatchObject({ status: 'superseded' })

  // A fresh session begins with the brief and is handed off in turn.
  const seat = { BATON_SEAT: 'api', CLAUDE_CODE_SESSION_ATTENDED: '1' }
  trial.fill((app) => {
    tellEvent(app, 'SessionEnd', A, trial.project, { reason: 'clear' }, seat)
    tellEvent(app, 'SessionStart', B, trial.project, { source: 'clear' }, seat)
  })
  await page.getByText(/by session/).waitFor()
  working(trial, B)
  const third = await hands(trial, B, WHOLE)
  await page.getByRole('link', { name: 'Briefs', exact: false }).first().click()
  // The used brief leaves the list when its event reaches the page.
  const read = page.getByRole('link', { name: 'Read it' })
  await page.locator(`a[href="/briefs/${third.brief_id}"]`).getByText('Read it').waitFor()
  await expect.poll(() => read.count()).toBe(1)
  await read.click()
  await page.getByRole('tab', { name: 'Since brief 2' }).click()
  await page.getByText('gone: ').first().waitFor({ state: 'attached' })
  await page.locator('.diff-line[data-kind=gone]', { hasText: 'blue pen' }).waitFor()
  await page.locator('.diff-line[data-kind=new]', { hasText: 'Never touch legacy/a.ts.' }).first().waitFor()
  await it.expectSound()
  await page.getByRole('button', { name: 'Cancel…' }).click()
  await page.getByRole('button', { name: 'Cancel the brief' }).click()
  await page.getByText('cancelled', { exact: true }).first().waitFor()
  await it.expectSound()
})
