import { appendFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sampleJob } from '../../store/jobs.cases.js'
import { type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
})
afterEach(() => app.remove())

const titleOf = () => app.store.session(s.id)!.title
const submitPrompt = (prompt: string) => s.hook('UserPromptSubmit', { prompt })
const appendLine = (line: object): void => {
  appendFileSync(s.transcript, `${JSON.stringify(line)}\n`)
  s.step(20_000)
}

test('the user’s first request is the title, and later requests do not change it', () => {
  for (const prompt of ['[baton] Continue the work', '<task-notification>done</task-notification>', '/handoff'])
    submitPrompt(prompt)
  expect(titleOf()).toBeNull()
  submitPrompt('Fix the\nlogin.')
  submitPrompt('Now push.')
  expect(titleOf()).toEqual({ text: 'Fix the login.', by: 'request' })
})

test('a title from the client replaces the request, and one from the user replaces both for good', () => {
  submitPrompt('Fix the login.')
  appendLine({ type: 'ai-title', aiTitle: 'Login repair', sessionId: s.id })
  expect(titleOf()).toEqual({ text: 'Login repair', by: 'client' })
  appendLine({ type: 'custom-title', customTitle: 'Login \u001b[31mnow', sessionId: s.id })
  expect(titleOf()).toEqual({ text: 'Login now', by: 'named' })
  appendLine({ type: 'ai-title', aiTitle: 'Login repair again', sessionId: s.id })
  expect(titleOf()!.text).toBe('Login now')
  appendLine({ type: 'custom-title', customTitle: 'Login later', sessionId: s.id })
  expect(titleOf()!.text).toBe('Login later')
})

test('the session of a job has the title of the job, and in a worktree the project that asked for it', () => {
  const path = '/code/shop/.worktrees/job_1'
  const worktree = { path, branch: 'agent/job_1', base: 'main', repository: '/code/shop' }
  const job = sampleJob('job_1', { workspace: { folder: path, worktree } })
  const spec = { ...job.spec, agentName: 'coder', workItem: 'SHOP-12', folder: '/code/shop' }
  app.store.putJob({ ...job, spec })
  const body = { session_id: 'bbbbbbbb-0002', cwd: path, hook_event_name: 'UserPromptSubmit', prompt: 'Fix it.' }
  const env = { HOME: app.folder, BATON_JOB_ID: 'job_1', CLAUDE_PROJECT_DIR: path }
  const raw = { agent: 'claude-code', kind: 'UserPromptSubmit', body: JSON.stringify(body), env, at: 0 }
  app.engine.take(raw, { deliver: 'keep', byRunner: true })
  expect(app.store.session('bbbbbbbb-0002')!).toMatchObject({
    title: { text: 'coder: SHOP-12', by: 'job' },
    project: '/code/shop',
    cwd: path,
  })
})
