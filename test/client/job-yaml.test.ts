import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from '../../src/lib/find-program.js'
import { trustProject } from '../harness/trust.js'
import { type JobStage, jobStage } from './job-stage.js'

/** Folder of users' `baton.yaml` files, with the scripts that they run. */
const FILES = path.join(import.meta.dirname, '..', 'fixtures', 'agents')
const FLAGS = [
  '--model',
  'claude-opus-4-6',
  '--permission-mode',
  'bypassPermissions',
  '--prompt',
  'Do all steps.',
  '--json',
]

/** True if jq is installed, which the files' scripts need. */
const hasJq = findProgram('jq', process.env) !== null

const git = (it: JobStage, ...args: string[]): string =>
  execFileSync('git', ['-C', it.home.project, ...args], { env: it.home.env, encoding: 'utf8' }).trim()

/** Copies one of the files into the project, modified only by `change`. */
function lay(it: JobStage, name: string, change: (text: string) => string = (text) => text): void {
  writeFileSync(path.join(it.home.project, 'baton.yaml'), change(readFileSync(path.join(FILES, name), 'utf8')))
  trustProject(it.home.env, it.home.project)
}

const SESSIONS = {
  steps: [
    { bash: 'echo 1 >> steps', used: 90_008 },
    { bash: 'echo 2 >> steps', used: 152_008 },
  ],
  conversations: [
    {
      when: { seen: 'You continue a job' },
      steps: [
        { bash: 'echo 3 >> steps; git add steps; git commit -qm "All steps"', used: 30_008 },
        'All steps are done.',
      ],
    },
  ],
}

test.skipIf(!hasJq)(
  'an unmodified baton.yaml with hooks, a worktree and a pull request saves, loads, pushes and opens its work',
  async () => {
    const it = await jobStage(SESSIONS)
    const { project, dir, env } = it.home
    const remote = path.join(dir, 'remote.git')
    git(it, 'init', '-q', '--bare', remote)
    git(it, 'remote', 'add', 'origin', remote)
    const bin = path.join(dir, 'bin')
    mkdirSync(bin)
    writeFileSync(
      path.join(bin, 'gh'),
      `#!/bin/sh\nprintf '%s\\n' "$@" > "${dir}/gh-asked"\necho https://example.com/it/pull/7\n`,
    )
    chmodSync(path.join(bin, 'gh'), 0o755)
    env.PATH = `${bin}:${env.PATH}`
    for (const [name, value] of [
      ['NAME', 'A'],
      ['EMAIL', 'a@b'],
    ])
      for (const who of ['AUTHOR', 'COMMITTER']) env[`GIT_${who}_${name}`] = value!
    lay(it, 'worktree.yaml', (text) => text.replace('/home/dev/myrepo', project))

    const ran = await it.baton('run', 'coder', '--work-item', 'LIN-42', ...FLAGS)
    const job = JSON.parse(ran.stdout || '{}')
    expect({ code: ran.code, stderr: ran.stderr, ...job }).toMatchObject({
      code: 0,
      status: 'completed',
      handoffs: 1,
      compactions: 0,
      branch_name: 'agent/coder/LIN-42',
      detail: 'pull request: https://example.com/it/pull/7',
    })
    expect(job.worktree_path).toBe(path.join(project, '.worktrees', job.job_id))

    // Both sessions used one worktree, and the second began with the note that the hooks saved.
    const [, second] = it.firsts()
    const said = second!.text
    expect(said).toMatch(
      /# Continuation from Previous Session\n[\s\S]*"branch": "agent\/coder\/LIN-42"[\s\S]*"usage": 0\.76/,
    )
    expect(said.indexOf('# Continuation')).toBeLessThan(said.indexOf('[baton] You continue a job'))
    expect(said).toContain('Branch agent/coder/LIN-42')
    expect(git(it, 'show', 'agent/coder/LIN-42:steps')).toBe('1\n2\n3')

    expect(
      execFileSync('git', ['-C', remote, 'log', '-1', '--format=%s', 'agent/coder/LIN-42'], {
        encoding: 'utf8',
      }).trim(),
    ).toBe('All steps')
    expect(readFileSync(path.join(dir, 'gh-asked'), 'utf8')).toMatch(
      /^pr\ncreate\n--head\nagent\/coder\/LIN-42\n--base\nmain\n/,
    )
    expect(existsSync(job.worktree_path)).toBe(false)
    expect(git(it, 'status', '--porcelain')).toBe('?? baton.yaml')
    // The notification hook fails without a token, and the job continues.
    const log = await it.baton('jobs', 'logs', job.job_id)
    expect(log.stdout).toMatch(/hook `slack 1` \(completed\) failed: SLACK_BOT_TOKEN: not set in the environment/)
    expect(log.stdout).toContain('hook decision: abort (no hook decided')
  },
)

test('every other baton.yaml example is accepted unmodified and runs a job with its hooks', async () => {
  const it = await jobStage({ steps: [] })
  cpSync(path.join(FILES, 'scripts'), path.join(it.home.project, 'scripts'), { recursive: true })
  const script = path.join(it.home.dir, 'script.json')
  const full = { calls: [{ input: 'echo 1' }], used: 155_000 }
  writeFileSync(
    script,
    JSON.stringify({
      sessions: [[full], [{ text: 'Done.' }]],
      replies: [{ when: 'handoff brief', text: '# Handoff brief\n\n## State\n\nHalf.' }],
    }),
  )
  it.home.env.BATON_JOB_SCRIPT = script
  const first = (id: string): string => readFileSync(path.join(it.home.batonHome, 'jobs', id, 'prompt-2.md'), 'utf8')
  for (const [file, agent, how] of [
    ['threshold.yaml', 'my-agent', 'Half.'],
    ['no-hooks.yaml', 'simple-agent', 'Half.'],
    ['webhook.yaml', 'researcher', 'A hook ended the session'],
    ...(hasJq ? [['shell-scripts.yaml', 'coder', '# Continuation Context\n\nYou are continuing work'] as const] : []),
  ] as const) {
    lay(it, file)
    const ran = await it.baton('run', agent, '--runtime', 'scripted', ...FLAGS)
    const job = JSON.parse(ran.stdout || '{}')
    expect({ file, code: ran.code, stderr: ran.stderr, ...job }).toMatchObject({
      file,
      code: 0,
      status: 'completed',
      handoffs: 1,
    })
    expect(first(job.job_id)).toContain(how)
  }
  const asked = await it.baton('jobs', 'logs', (await it.jobs()).find(({ agent }) => agent === 'researcher')!.job_id)
  expect(asked.stdout).toMatch(/`Notify monitoring` \(context_threshold\) failed: MONITORING_TOKEN: not set/)
})

test('an error in baton.yaml is reported with its line, and no job is started', async () => {
  const it = await jobStage({ steps: [] })
  lay(it, 'worktree.yaml', (text) =>
    text.replace('push_on_success', 'push_on_sucess').replace('context_threshold: 0.10', 'context_threshold: 10'),
  )
  const ran = await it.baton('run', 'coder', ...FLAGS)
  expect(ran).toMatchObject({ code: 2 })
  expect(JSON.parse(ran.stderr).problems).toMatchObject([
    { key: 'agents[0].session.context_threshold', reason: '10 is not between 0 and 1', hint: 'write `0.1`', line: 17 },
    { key: 'agents[0].workspace.push_on_sucess', hint: 'did you mean `push_on_success`?', line: 12 },
  ])
  expect(await it.jobs()).toEqual([])
})
