import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { RuntimeScript, ScriptedStep } from '../../src/jobs/runtimes/scripted-steps.js'
import { type StartedCommand, sendClientEvent, type TestHome } from '../../src/testing/cli-home.js'
import { until } from '../harness/wait.js'
import { sideways } from './browser.js'
import { closeBrowser, type Opened, openPage } from './open-page.js'

afterAll(closeBrowser)

const EVIL = '<img src=x onerror=alert(1)>'
const BRIEF = `# Handoff brief\n\n## Goal and why\nAll steps. ${EVIL}\n\n## Next exact step\nThe next one.\n`
const step = (n: number, used: number): ScriptedStep => ({
  text: `Step ${n} ${EVIL}`,
  calls: [{ input: `echo ${n}`, result: `did ${n}` }],
  used,
})

interface Stage extends Opened {
  /** Sets the script of the jobs' clients from now on. */
  play(script: RuntimeScript): void
  run(...args: string[]): StartedCommand
}

async function stage(
  script: (fixture: TestHome) => RuntimeScript,
  prepare: (fixture: TestHome) => void = () => {},
): Promise<Stage> {
  const scriptOf = (fixture: TestHome): string => join(fixture.dir, 'script.json')
  const play = (fixture: TestHome, next: RuntimeScript): void =>
    void fixture.put(scriptOf(fixture), JSON.stringify(next))
  const opened = await openPage({
    path: '/jobs',
    prepare: (fixture) => {
      play(fixture, script(fixture))
      prepare(fixture)
      return { BATON_JOB_SCRIPT: scriptOf(fixture) }
    },
  })
  const { fixture } = opened
  return {
    ...opened,
    play: (next) => play(fixture, next),
    run: (...args) =>
      fixture.start(['run', '--runtime', 'scripted', ...args], { env: { BATON_JOB_SCRIPT: scriptOf(fixture) } }),
  }
}

test('the introduction of the jobs page fits a phone, and only its example scrolls sideways', async () => {
  const { page, expectSound } = await openPage({ path: '/jobs' })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('#no-jobs').waitFor()
  expect(await sideways(page)).toBeLessThanOrEqual(0)
  await expectSound()
})

test('a new job with its climb, handoff, output and checks appears on an open page without a reload', async () => {
  const it = await stage((fixture) => ({
    sessions: [
      [{ ...step(1, 60_000), until: join(fixture.dir, 'go') }, step(2, 155_000)],
      [step(3, 30_000), { text: 'Done.' }, { text: 'Done now.' }],
    ],
    replies: [{ when: 'handoff brief', text: BRIEF }],
  }))
  const { page } = it
  await page.locator('#no-jobs').waitFor()
  await page.locator('.command').getByText('baton run --prompt').waitFor()
  await it.expectSound()

  const job = it.run(
    '--prompt',
    `Make it so ${EVIL}`,
    '--check',
    'test -e ok || { touch ok; exit 3; }',
    '--budget-usd',
    '5',
  )
  const row = page.getByRole('link', { name: `Make it so ${EVIL}` })
  await row.waitFor()
  await row.click()
  await page.getByRole('heading', { level: 1, name: `Make it so ${EVIL}` }).waitFor()
  // The page is open from here on and must receive all further changes.
  it.fixture.put(join(it.fixture.dir, 'go'), '')
  await page.getByText(`Step 1 ${EVIL}`).waitFor()
  await page.getByRole('meter', { name: 'Session 1' }).first().waitFor()
  await page.getByRole('link', { name: /^brief/ }).waitFor()
  await page.getByRole('link', { name: /^Session 2/ }).waitFor()
  await page.locator('.check-end', { hasText: 'exit 3' }).waitFor({ state: 'attached' })
  await page.locator('.rounds details[data-failed="0"]').waitFor()
  await page.locator('.rounds details[data-failed="1"]').waitFor()
  await page.getByText('completed', { exact: true }).first().waitFor()
  await page.getByText('Step 3').waitFor()
  expect((await job.done).code).toBe(0)
  expect(await page.getByRole('meter', { name: 'Cost used' }).count()).toBe(1)
  await it.expectSound()

  await page.getByRole('link', { name: /^brief/ }).click()
  await page.getByText(`All steps. ${EVIL}`).waitFor()
  expect(it.faults).toEqual([])
})

test('the page cancels a job after a confirmation, and pauses and resumes another one', async () => {
  const it = await stage((fixture) => ({
    sessions: [[step(1, 20_000), { ...step(2, 21_000), until: join(fixture.dir, 'go') }, { text: 'Done.' }]],
  }))
  const { page } = it
  const first = it.run('--prompt', 'Hangs for ever')
  await page.getByRole('link', { name: 'Hangs for ever' }).click()
  await page.getByText('echo 1').waitFor()
  await page.locator('[data-act=cancel]').click()
  await page.getByRole('dialog').locator('[data-act=no]').click()
  await page.locator('[data-act=cancel]').click()
  await page.getByRole('dialog').locator('[data-act=yes]').click()
  await page.locator('.status-note[data-about=cancelled]').waitFor()
  expect((await first.done).code).toBe(1)
  expect(await page.locator('.job-actions button').count()).toBe(0)

  const second = it.run('--prompt', 'Rests a while', '--check', 'true')
  // Keys alone open the jobs page, select its first job and open it.
  await page.keyboard.type('gj')
  await page.getByRole('link', { name: 'Rests a while' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Rests a while' }).waitFor()
  await page.getByText('echo 1').waitFor()
  await page.locator('.round-check[data-state=pending]', { hasText: 'true' }).waitFor()
  await page.locator('[data-act=pause]').click()
  await until('the job is to pause after its step', () =>
    it.fixture.fill(({ store }) => store.openJobs().some(({ wanted }) => wanted === 'pause')),
  )
  it.fixture.put(join(it.fixture.dir, 'go'), '')
  await page.locator('.status-note[data-about=paused]').waitFor()
  expect((await second.done).code).toBe(5)
  expect(await page.locator('[data-act=pause]').count()).toBe(0)
  it.play({ sessions: [[{ text: 'All is done.' }]] })
  await page.locator('[data-act=resume]').click()
  await page.locator('#final-answer').getByText('All is done.').waitFor()
  await it.expectSound()
})

test('the page shows a job whose process was killed, and starts a named agent by a dialog', async () => {
  const script: RuntimeScript = { sessions: [[step(1, 20_000), { hangs: true }]] }
  const it = await stage(
    () => script,
    (fixture) => {
      execFileSync('git', ['init', '-q', fixture.project])
      execFileSync('git', [
        '-C',
        fixture.project,
        '-c',
        'user.name=a',
        '-c',
        'user.email=a@b',
        'commit',
        '-q',
        '--allow-empty',
        '-m',
        'x',
      ])
      fixture.putTrusted(
        'agents:\n  - name: coder\n    runtime: scripted\n    workspace: { strategy: git_worktree }\n' +
          '  - name: docs\n    prompt: Write.\n',
      )
      fixture.fill((app) =>
        sendClientEvent(app, 'SessionStart', 'aaaaaaaa-ef1f-4334-9716-3be98836406b', fixture.project, {
          source: 'startup',
        }),
      )
    },
  )
  const { page } = it
  await page.locator('[data-act=start-job]').click()
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('coder')
  await page.getByRole('dialog').locator('button[type=submit]').click()
  await page.getByRole('dialog').getByRole('alert').getByText('coder').waitFor()
  await page.getByRole('textbox', { name: 'Task' }).fill(`Begin ${EVIL}`)
  await page.getByRole('textbox', { name: 'Work item' }).fill(EVIL)
  await page.getByRole('dialog').locator('button[type=submit]').click()
  await page.getByRole('heading', { level: 1, name: EVIL }).waitFor()
  await page.getByText(`Begin ${EVIL}`).first().waitFor()
  await page.getByText('echo 1').waitFor()
  const { jobs } = (await it.fixture.run(['jobs', 'list', '--json'])).json as {
    jobs: { branch_name: string; runner: { pid: number } }[]
  }
  await page.getByText(jobs[0]!.branch_name).waitFor()
  await it.expectSound()

  process.kill(jobs[0]!.runner.pid, 'SIGKILL')
  await page.locator('.status-note[data-about=lost]').getByText(String(jobs[0]!.runner.pid)).waitFor()
  await page.locator('[data-act=resume]').waitFor()
  await it.expectSound()
})
