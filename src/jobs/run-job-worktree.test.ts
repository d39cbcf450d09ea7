import { existsSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import type { WorkspaceSpec } from '../contract/job.js'
import type { ScriptedStep } from './runtimes/scripted-steps.js'
import { stage, useTrialJobs } from './trial-job.js'
import { trialRepository } from './workspace/trial.js'

useTrialJobs()

const refused: ScriptedStep = { fails: { terminal: 'api_error', status: 401, text: 'no' } }

function inRepository(sessions: ScriptedStep[][], workspace: Partial<WorkspaceSpec> = {}) {
  const trial = trialRepository()
  onTestFinished(trial.remove)
  const spec = { folder: trial.root, agentName: 'coder', workItem: 'L1', workspace: trial.spec(workspace) }
  return { ...trial, ...stage({ sessions }, spec, { env: trial.env }) }
}

it('a job that failed with nothing of its own in its worktree goes on, in the same place and on a branch that is nobody else’s', async () => {
  const { run, root, git, branches, runtime } = inRepository([[refused], [{ text: 'Done.' }]])
  const failed = await run()
  expect(failed).toMatchObject({ state: 'failed', workspace: { worktree: { branch: 'agent/coder/L1' } } })
  expect([branches(), existsSync(failed.workspace!.folder)]).toEqual([['main'], false])

  // Another job for the same work item took the name.
  git(root, 'branch', 'agent/coder/L1')
  expect(await run()).toMatchObject({
    state: 'completed',
    result: 'Done.',
    workspace: { worktree: { branch: 'agent/coder/L1-2' } },
  })
  expect(runtime.wishes.map(({ cwd }) => cwd)).toEqual([failed.workspace!.folder, failed.workspace!.folder])
  expect(branches()).toEqual(['agent/coder/L1', 'main'])
})

it('a job that cannot have its worktree says what to do', async () => {
  const { run } = inRepository([], { baseBranch: 'mian' })
  expect(await run()).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/no branch `mian`.*; did you mean `main`\?/),
  })
})
