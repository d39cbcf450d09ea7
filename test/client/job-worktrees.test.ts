import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { trustProject } from '../harness/trust.js'
import { type JobStage, jobStage } from './job-stage.js'

const WHO = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b' }

const git = (it: JobStage, at: string, ...args: string[]): string =>
  execFileSync('git', ['-C', at, ...args], {
    env: it.home.env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()

const agent = (prompt: string): string => `agents:
  - name: coder
    prompt: ${prompt}
    model: claude-opus-4-6
    permission_mode: bypassPermissions
    workspace: { strategy: git_worktree, branch_pattern: "{agent}/{workItem} of {job}" }
    hooks:
      after_run:
        - type: shell
          command: >-
            cat > "$(git rev-parse --path-format=absolute --git-common-dir)/../$BATON_JOB_ID.json"
`

test('two simultaneous jobs keep a worktree each, and uncommitted work stays and is named', async () => {
  const brief = '# Handoff brief\n\n## Goal and why\n\nAll steps.\n\n## Next exact step\n\nStep 3.\n'
  const it = await jobStage(
    {
      conversations: [
        {
          when: { seen: 'You continue a job' },
          steps: [
            { bash: 'echo 3 >> steps; git add -A; git commit -qm "Three steps"', used: 30_008 },
            'All steps are done.',
          ],
        },
        {
          when: { seen: 'Leave it' },
          steps: [{ bash: 'git rev-parse --show-toplevel > left-here', used: 30_008 }, 'It is left.'],
        },
      ],
      steps: [
        { bash: 'echo 1 >> steps', used: 90_008 },
        { bash: 'echo 2 >> steps', used: 152_008 },
      ],
      replies: [{ when: 'as your whole answer', text: brief }],
    },
    WHO,
  )
  const repo = path.join(it.home.dir, 'my own repo')
  git(it, it.home.dir, 'clone', '-q', it.home.project, repo)
  git(it, repo, 'checkout', '-q', '--detach')
  const head = git(it, repo, 'rev-parse', 'HEAD')
  writeFileSync(path.join(repo, 'baton.yaml'), agent('Do all steps.'))
  trustProject(it.home.env, repo)
  const start = (...more: string[]) => it.start(['run', 'coder', '--json', ...more], {}, repo).done
  const ends = await Promise.all([
    start('--work-item', 'LIN-42'),
    start('--work-item', 'LIN-43', '--prompt', 'Leave it.'),
  ])
  const [long, left] = ends.map(({ code, stdout, stderr }) => ({ code, stderr, ...JSON.parse(stdout || '{}') }))

  expect(long).toMatchObject({ code: 0, stderr: '', status: 'completed', handoffs: 1 })
  expect(long.detail).toBe(`its commits are on the branch ${long.branch_name}`)
  expect(long.branch_name).toBe(`coder/LIN-42-of-${long.job_id}`)
  expect(long.worktree_path).toBe(path.join(repo, '.worktrees', long.job_id))
  expect(git(it, repo, 'show', `${long.branch_name}:steps`)).toBe('1\n2\n3')
  expect(git(it, repo, 'rev-parse', `${long.branch_name}~1`)).toBe(head)
  expect(existsSync(long.worktree_path)).toBe(false)

  expect(left).toMatchObject({
    code: 0,
    stderr: '',
    status: 'completed',
    branch_name: `coder/LIN-43-of-${left.job_id}`,
  })
  expect(left.detail).toBe(`${left.worktree_path} is kept: 1 uncommitted file (left-here)`)
  expect(readFileSync(path.join(left.worktree_path, 'left-here'), 'utf8').trim()).toBe(left.worktree_path)

  // The last hooks ran with or without the worktree, and were informed which it was.
  const readPayload = ({ job_id: id }: { job_id: string }) =>
    JSON.parse(readFileSync(path.join(repo, `${id}.json`), 'utf8')).metadata
  expect(readPayload(long)).toMatchObject({
    worktree_kept: false,
    worktree_path: long.worktree_path,
    branch_name: long.branch_name,
  })
  expect(readPayload(left)).toMatchObject({ worktree_kept: true, worktree_path: left.worktree_path })
  expect(git(it, repo, 'rev-parse', 'HEAD')).toBe(head)
  expect(git(it, repo, 'status', '--porcelain').split('\n').sort()).toEqual(
    ['?? baton.yaml', `?? ${long.job_id}.json`, `?? ${left.job_id}.json`].sort(),
  )
})

test('a repository without commits is refused with a remedy before a job is created', async () => {
  const it = await jobStage({ steps: ['Never asked.'] })
  const repo = path.join(it.home.dir, 'new')
  mkdirSync(repo)
  git(it, repo, 'init', '-q')
  const flags = ['--prompt', 'Do it.', '--worktree', '--permission-mode', 'bypassPermissions', '--json']
  const { code, stdout, stderr } = await it.start(['run', ...flags], {}, repo).done
  expect([code, stdout + stderr]).toEqual([4, expect.stringMatching(/no commit[\s\S]*--allow-empty/)])
  expect(JSON.parse((await it.baton('jobs', 'list', '--json')).stdout)).toEqual({ jobs: [] })
  expect(it.model.log()).toEqual([])
  expect(git(it, repo, 'status', '--porcelain')).toBe('')
})

test('a job that failed with an empty worktree resumes its session in a new worktree at the same path', async () => {
  const refused = {
    bash: 'git branch --show-current > made; git add -A; git commit -qm Made',
    used: 20_008,
    fail: { kind: 401, times: 4 },
  }
  const it = await jobStage({ steps: [{ bash: 'pwd', used: 10_008 }, refused, 'It is done.'] }, WHO)
  const flags = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions', '--json']
  const ran = JSON.parse((await it.baton('run', '--prompt', 'Do it.', '--worktree', ...flags)).stdout || '{}')
  expect(ran).toMatchObject({ status: 'failed', detail: expect.stringContaining('key or login') })
  expect([existsSync(ran.worktree_path), git(it, it.home.project, 'branch', '--format=%(refname:short)')]).toEqual([
    false,
    'main',
  ])

  const on = JSON.parse((await it.baton('jobs', 'resume', ran.job_id, '--json')).stdout || '{}')
  expect(on).toMatchObject({
    status: 'completed',
    sessions: [{ session_id: ran.session_id }],
    worktree_path: ran.worktree_path,
  })
  expect(git(it, it.home.project, 'show', `${on.branch_name}:made`)).toBe(on.branch_name)
})
