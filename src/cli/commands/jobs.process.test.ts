import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BATON } from '../../../test/harness/paths.js'
import { until } from '../../../test/harness/wait.js'
import { createTestHome, type TestHome } from '../../testing/cli-home.js'

const step = (n: number, used: number, delayMs = 0) => ({
  calls: [{ input: `step ${n}`, result: 'ok' }],
  used,
  delayMs,
})
const BRIEF = '# Handoff brief\n\n## Goal and why\n\nAll.\n\n## Next exact step\n\nThe next one.\n'

function scripted(fixture: TestHome, script: object): void {
  fixture.env.BATON_JOB_SCRIPT = fixture.put(join(fixture.dir, 'script.json'), JSON.stringify(script))
}

const RUN = ['run', '--prompt', 'Mend it.\nAll of it.', '--runtime', 'scripted']

test('a job runs to its end, and jobs show, list and logs report it afterwards', async () => {
  const fixture = createTestHome()
  scripted(fixture, {
    sessions: [
      [step(1, 60_000), step(2, 155_000)],
      [step(3, 40_000), { text: 'All is done.' }],
    ],
    replies: [{ when: 'as your whole answer', text: BRIEF }],
  })
  const ran = await fixture.run([...RUN, '--check', 'true', '--check', 'test -d .'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  for (const part of [
    'step 2 · session 1 · 155,000 of 167,000 (92.8%)',
    'handoff 1: session',
    'All is done.',
    'completed: 2 sessions',
  ])
    expect(ran.stdout).toContain(part)

  const { jobs } = (await fixture.run(['jobs', 'list', '--json'])).json
  expect(jobs).toMatchObject([
    { status: 'completed', exit_reason: 'success', handoffs: 1, steps: 5, checks: [{ ok: true }, { ok: true }] },
  ])
  expect((await fixture.run(['jobs', '--json'])).json.jobs).toEqual(jobs)
  const id = jobs[0].job_id as string
  expect((await fixture.run(['jobs', 'show', id.slice(4, 10)])).stdout).toContain(`${id}  completed`)
  expect((await fixture.run(['jobs', 'show', id.slice(0, 7)])).stderr).toContain('at least four characters of the id')
  expect((await fixture.run(['jobs', 'logs', id])).stdout).toMatch(
    /\d\d:\d\d:\d\d → Bash step 1\n.* ← ok\n\d\d:\d\d:\d\d → Bash step 2\n.* ← ok\n.*handoff 1[\s\S]*All is done\./,
  )
  expect((await fixture.run(['show', id, '--json'])).json).toMatchObject({
    session_id: jobs[0].session_id,
    handoffs: 1,
  })
  for (const line of (await fixture.run(['jobs', 'logs', id, '--json'])).stdout.trim().split('\n')) JSON.parse(line)
})

test('a running job and status show the same tokens per step for its session', async () => {
  const fixture = createTestHome()
  // The session is nearly full, so it is measured after every step. The last step is smaller than
  // the others, so a plain mean would be below the growth that forecasts hold.
  scripted(fixture, { sessions: [[step(1, 146_500), step(2, 147_500), step(3, 148_500), step(4, 149_300)]] })
  const events = (await fixture.run([...RUN, '--output-format', 'stream-json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const told = events.filter(({ type, data }) => type === 'job_progress' && data.tokens_per_step).at(-1)
  const { sessions } = (await fixture.run(['status', '--all', '--json'])).json
  expect(told.data.tokens_per_step).toBe(1_000)
  expect(sessions).toMatchObject([{ tokens_per_step: 1_000, used_tokens: 149_300 }])
})

test('run --json prints one line, and stream-json prints all events with the result last', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[step(1, 60_000), { text: 'Done.' }]] })
  const quiet = await fixture.run([...RUN, '--json'])
  expect(quiet.json).toMatchObject({
    status: 'completed',
    result: 'Done.',
    sessions: [{ number: 1, steps: 2 }],
    spend: { cost_usd: null },
  })
  const lines = (await fixture.run([...RUN, '--output-format', 'stream-json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['job_started', 'session_started', 'job_progress', 'job_completed']),
  )
  expect(lines.at(-1)).toMatchObject({ status: 'completed' })
  expect(new Set(lines.slice(0, -1).map(({ job_id }) => job_id)).size).toBe(1)
})

test('each impossible job is refused with its own exit code', async () => {
  const fixture = createTestHome()
  fixture.putTrusted('agents: { lost: { prompt: Do it., working_directory: nowhere } }\n')
  const cases: [string[], number, RegExp][] = [
    [['run'], 2, /No task was given/],
    [['run', 'coder', '--prompt', 'x'], 2, /unknown agent `coder`/],
    [['run', '--prompt', 'x', '--max-handoffs', 'many'], 2, /--max-handoffs cannot be "many"/],
    [['run', '--prompt', 'x', '--prompt-file', 'y'], 2, /--prompt and --prompt-file exclude each other/],
    [['run', '--prompt', ' '], 2, /The prompt is empty/],
    [[...RUN, '--check', 'true', '--check', '  '], 2, /--check is empty/],
    [['run', '--prompt-file', '.'], 2, /cannot be read: EISDIR/],
    [['run', 'lost', '--runtime', 'scripted'], 2, /nowhere is not a folder \(working_directory of the agent `lost`\)/],
    [['jobs', 'lst'], 2, /Did you mean baton jobs list/],
    [['jobs', 'show'], 2, /needs more/],
    [['jobs', 'show', 'nothing'], 3, /There is no job "nothing"/],
    [['jobs', 'list', '--follow'], 2, /has no option --follow/],
  ]
  for (const [args, code, said] of cases) {
    const ran = await fixture.run(args)
    expect([args, ran.code, ran.stderr]).toEqual([args, code, expect.stringMatching(said)])
  }
  const failing = await fixture.run([...RUN, '--check', 'false', '--json'])
  expect([failing.code, failing.json.exit_reason]).toEqual([1, 'error'])
})

test('run and the log show each round of checks: running, failed with its exit code, then passed', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[{ text: 'Done.' }, { text: 'Now it is.' }]] })
  const ran = await fixture.run([...RUN, '--check', 'true', '--check', '[ -e tried ] || { touch tried; exit 3; }'])
  const told = [
    'check 1 of 2 runs: true (round 1 of 4)',
    'check passed: true',
    'check failed: [ -e tried ] || { touch tried; exit 3; } (exit 3,',
    '1 of 2 checks failed in round 1 of 4',
    'check 1 of 2 runs: true (round 2 of 4)',
  ]
  const { jobs } = (await fixture.run(['jobs', 'list', '--json'])).json
  for (const text of [ran.stdout, (await fixture.run(['jobs', 'logs', jobs[0].job_id])).stdout]) {
    let from = 0
    for (const part of told) {
      expect(text.slice(from)).toContain(part)
      from = text.indexOf(part, from)
    }
  }
})

test('jobs beyond the limit wait for their turn, the oldest first', async () => {
  const fixture = createTestHome()
  fixture.put(join(fixture.dir, 'baton', 'config.yaml'), 'limits: { jobs: 1 }\n')
  scripted(fixture, { sessions: [[step(1, 20_000), { text: 'Done.' }]] })
  const go = join(fixture.dir, 'go')
  const first = fixture.start([...RUN, '--json', '--check', `until [ -e '${go}' ]; do sleep 0.1; done`])
  const list = async () =>
    (await fixture.run(['jobs', 'list', '--json'])).json.jobs as { status: string; job_id: string }[]
  await until('the first runs', async () => (await list()).some(({ status }) => status === 'running'))
  const second = fixture.start([...RUN, '--json'])
  await until('the second waits', async () => (await list()).some(({ status }) => status === 'pending'))
  expect((await list()).map(({ status }) => status)).toEqual(['pending', 'running'])
  fixture.put(go, '')
  const [one, two] = [(await first.done).json, (await second.done).json]
  expect([one.status, two.status]).toEqual(['completed', 'completed'])
  expect(Date.parse(two.started_at)).toBeGreaterThanOrEqual(Date.parse(one.ended_at))
})

test('a background job has its own process and log, and jobs list shows it', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[step(1, 20_000), { text: 'Done.' }]] })
  const { job_id, log, status } = (await fixture.run([...RUN, '--detach', '--json'])).json
  expect(status).toBe('pending')
  await until(
    'it is done',
    async () => (await fixture.run(['jobs', 'show', job_id, '--json'])).json.status === 'completed',
  )
  await until('its log tells', () => existsSync(log) && readFileSync(log, 'utf8').includes('completed'))

  // A completed job is not resumed, and the refusal changes nothing.
  const again = await fixture.run(['jobs', 'resume', job_id, '--detach', '--budget-usd', '7'])
  expect(again).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('it is done') })
  expect((await fixture.run(['jobs', 'show', job_id, '--json'])).json.budgets.usd).toBe(null)
})

test.skipIf(!existsSync('/dev/full'))(
  'a full disk that cannot store the output of run does not end the job',
  async () => {
    const fixture = createTestHome()
    scripted(fixture, { sessions: [[step(1, 20_000), step(2, 30_000, 300), { text: 'Done.' }]] })
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const { status, stderr } = spawnSync(process.execPath, [BATON, ...RUN], {
      env: fixture.env,
      cwd: fixture.project,
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    })
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^baton: .*ENOSPC.*\n$/)])
    expect((await fixture.run(['jobs', 'list', '--json'])).json.jobs).toMatchObject([{ status: 'completed', steps: 3 }])
  },
)

test('Ctrl-C during the end hooks of a job is acknowledged, and the hooks finish', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[{ text: 'Done.' }]] })
  const hooks = {
    after_run: [{ type: 'shell', command: 'touch begun; until [ -e go ]; do sleep 0.05; done; touch ended' }],
  }
  fixture.putTrusted(JSON.stringify({ agents: { a: { prompt: 'x', runtime: 'scripted', hooks } } }))
  const run = fixture.start(['run', 'a'])
  await until('the hook runs', () => existsSync(join(fixture.project, 'begun')))
  run.child.kill('SIGINT')
  await until('it says so', () => run.stderr().includes('after_run hooks'))
  fixture.put(join(fixture.project, 'go'), '')
  const { code, stderr } = await run.done
  expect([code, stderr]).toEqual([0, 'The job has ended. Waiting for its after_run hooks …\n'])
  expect(existsSync(join(fixture.project, 'ended'))).toBe(true)
})

test('jobs forget deletes an ended job with its files, refuses an active one, and keeps a used worktree', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[{ text: 'Done.' }]] })
  const ran = (await fixture.run([...RUN, '--check', 'echo a secret word', '--json'])).json
  const other = (await fixture.run([...RUN, '--json'])).json
  const files = (id: string) => join(fixture.dir, 'baton', 'jobs', id)
  const worktree = join(fixture.dir, 'kept')
  mkdirSync(worktree)
  fixture.fill(({ store }) => {
    const job = store.job(ran.job_id)!
    const state = { path: worktree, branch: 'baton/x', base: 'main', repository: fixture.project }
    store.putJob({ ...job, state: 'paused', workspace: { folder: worktree, worktree: state } })
  })
  const refused = await fixture.run(['jobs', 'forget', ran.job_id])
  expect([refused.code, refused.stderr]).toEqual([
    4,
    expect.stringMatching(/cannot be forgotten: it is paused[\s\S]*jobs cancel/),
  ])
  expect(existsSync(files(ran.job_id))).toBe(true)

  const hooksDue = { kept: true, pullRequest: null }
  fixture.fill(({ store }) => store.putJob({ ...store.job(ran.job_id)!, state: 'completed', hooksDue }))
  expect((await fixture.run(['jobs', 'forget', ran.job_id])).stderr).toMatch(/end hooks[\s\S]*baton jobs resume/)

  fixture.fill(({ store }) => store.putJob({ ...store.job(ran.job_id)!, hooksDue: null }))
  const told = (await fixture.run(['jobs', 'forget', ran.job_id, '--json'])).json
  expect(told.forgotten).toEqual([
    { job_id: ran.job_id, bytes: expect.any(Number), worktree_path: worktree, branch_name: 'baton/x' },
  ])
  expect(told.forgotten[0].bytes).toBeGreaterThan(100)
  expect([existsSync(files(ran.job_id)), existsSync(worktree), existsSync(files(other.job_id))]).toEqual([
    false,
    true,
    true,
  ])
  expect((await fixture.run(['jobs', 'show', ran.job_id])).code).toBe(3)
  expect((await fixture.run(['events', '--json'])).stdout).not.toContain('secret')
  expect((await fixture.run(['show', ran.session_id, '--json'])).code).toBe(0)
})

test('the file in a job’s worktree is trusted only with the bytes that were accepted in the project', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[{ text: 'Done.' }]] })
  const git = (...args: string[]) => {
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@t']
    expect(spawnSync('git', [...who, ...args], { cwd: fixture.project, env: fixture.env }).status).toBe(0)
  }
  const file = (text: string) => JSON.stringify({ agents: { a: { prompt: text, runtime: 'scripted' } } })
  const trustedFolders = () => {
    const folder = join(fixture.env.BATON_HOME!, 'trust')
    return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).folder)
  }
  fixture.putTrusted(file('one'))
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'x')
  fixture.putTrusted(file('two'))
  expect((await fixture.run(['run', 'a', '--worktree'])).code).toBe(0)
  expect(trustedFolders(), 'the commit holds other bytes than the project').toEqual([fixture.project])
  git('commit', '-qam', 'y')
  const { job_id: id } = (await fixture.run(['run', 'a', '--worktree', '--json'])).json
  expect(trustedFolders().sort()).toEqual([fixture.project, join(fixture.project, '.worktrees', id)])
})

test('jobs prune forgets old ended jobs, keeps active and recent ones, and only lists with --dry-run', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[{ text: 'Done.' }]] })
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await fixture.run([...RUN, '--json'])).json.job_id)
  fixture.fill(({ store }) => {
    const old = { endedAt: '2026-01-01T00:00:00.000Z' }
    store.putJob({ ...store.job(ids[0]!)!, ...old })
    store.putJob({ ...store.job(ids[1]!)!, ...old, state: 'paused' })
  })
  const prune = async (...more: string[]) =>
    (await fixture.run(['jobs', 'prune', '--older-than', '30d', '--json', ...more])).json
  const names = ({ forgotten }: { forgotten: { job_id: string }[] }) => forgotten.map(({ job_id }) => job_id)
  expect(await prune('--dry-run').then((told) => [names(told), told.dry_run])).toEqual([[ids[0]], true])
  expect(names(await prune())).toEqual([ids[0]])
  expect(names(await prune())).toEqual([])
  const { jobs } = (await fixture.run(['jobs', 'list', '--all', '--json'])).json
  expect(jobs.map(({ job_id }: { job_id: string }) => job_id).sort()).toEqual(ids.slice(1).sort())
  expect((await fixture.run(['jobs', 'prune'])).stderr).toContain('needs --older-than')
})

test('jobs prune names a job that cannot be removed and still removes the others', async () => {
  const fixture = createTestHome()
  scripted(fixture, { sessions: [[{ text: 'Done.' }]] })
  const ids: string[] = []
  for (let n = 0; n < 2; n++) ids.push((await fixture.run([...RUN, '--json'])).json.job_id)
  fixture.fill(({ store }) => {
    for (const id of ids) store.putJob({ ...store.job(id)!, endedAt: '2026-01-01T00:00:00.000Z' })
  })
  const folder = join(fixture.env.BATON_HOME!, 'jobs', ids[0]!)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'not a folder')
  const pruned = await fixture.run(['jobs', 'prune', '--older-than', '30d'])
  expect(pruned.code).toBe(1)
  expect(pruned.stdout).toContain(`Deleted ${ids[1]}`)
  expect(pruned.stderr).toMatch(new RegExp(`1 job could not be deleted: ${ids[0]}`))
})
