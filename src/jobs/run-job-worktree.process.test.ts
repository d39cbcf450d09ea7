import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { JobSpec, WorkspaceSpec } from '../contract/records/job.js'
import { createTestRepository } from '../testing/git-repository.js'
import { scriptedJob, useJobStore } from '../testing/scripted-job.js'
import type { ScriptedStep } from './runtimes/scripted-steps.js'

useJobStore()

const refused: ScriptedStep = { fails: { terminal: 'api_error', status: 401, text: 'no' } }

const commits = { name: 'commits', command: 'git commit -q --allow-empty -m Done', timeoutMs: 10_000 }

function inRepository(sessions: ScriptedStep[][], workspace: Partial<WorkspaceSpec> = {}, more: Partial<JobSpec> = {}) {
  const fixture = createTestRepository()
  onTestFinished(fixture.remove)
  const spec = { folder: fixture.root, agentName: 'coder', workItem: 'L1', workspace: fixture.spec(workspace), ...more }
  return { ...fixture, ...scriptedJob({ sessions }, spec, { env: fixture.env }) }
}

test('a failed job with an empty worktree resumes in the same place, on a branch of its own', async () => {
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
  expect(runtime.startedSessions.map(({ cwd }) => cwd)).toEqual([failed.workspace!.folder, failed.workspace!.folder])
  expect(branches()).toEqual(['agent/coder/L1', 'main'])
})

test('a job that cannot create its worktree says what to do', async () => {
  const { run } = inRepository([], { baseBranch: 'mian' })
  expect(await run()).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/no branch `mian`.*; did you mean `main`\?/),
  })
})

test('the pull request of a job has its work item as title', async () => {
  const { run, folder, root, git, program } = inRepository(
    [],
    { createPr: true },
    { prompt: 'Mend it.', workItem: 'LIN-42', checks: [commits] },
  )
  git(folder, 'init', '-q', '--bare', 'remote.git')
  git(root, 'remote', 'add', 'origin', join(folder, 'remote.git'))
  program(
    'gh',
    `while [ $# -gt 0 ]; do [ "$1" = --title ] && printf %s "$2" > '${folder}/title'; shift; done; echo ` +
      'https://x.test/a/b/pull/7',
  )
  expect(await run()).toMatchObject({ state: 'completed', detail: 'pull request: https://x.test/a/b/pull/7' })
  expect(readFileSync(join(folder, 'title'), 'utf8')).toBe('LIN-42')
})
