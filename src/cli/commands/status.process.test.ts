import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial, type Trial, tell, tellEvent } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
const KEYS =
  'session_id seat_id parent_seat_id agent agent_version project cwd branch model title state used_tokens window_tokens compaction_tokens compaction_mode used_percent compaction_percent remaining_percent source exact level cycle compactions handoffs handoff updated_at stale enabled handoff_tokens last_handoff_path transcript_path spend seat_name job_id started_at ended_at seen_at tokens_per_step steps_left subagents levels'

const climb = (trial: Trial, now?: Date): void =>
  trial.fill(
    (app) => {
      tellEvent(app, 'UserPromptSubmit', A, trial.project, { prompt: 'go' }, { BATON_SEAT: 'api' })
      tell(app, { session: A, project: trial.project, used: 118_600 })
    },
    now ? { now } : {},
  )

test('status of an empty store says what to do next', async () => {
  const trial = newTrial()
  expect((await trial.run(['status'])).stdout).toBe(
    'No sessions yet.\nRun baton install, then open Claude Code and send a prompt; the session appears here.\n',
  )
  await trial.run(['install'])
  expect((await trial.run(['status'])).stdout).toContain('Baton is installed: open Claude Code')
  expect(await trial.run(['status', '--json'])).toMatchObject({ code: 0, stdout: '{"sessions":[]}\n', stderr: '' })
})

test('status --json has every field of a session and prints nothing else', async () => {
  const trial = newTrial()
  climb(trial)
  const ran = await trial.run(['status', '--json'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const [session] = ran.json.sessions
  expect(Object.keys(session).sort()).toEqual(KEYS.split(' ').sort())
  expect(session).toMatchObject({
    session_id: A,
    project: trial.project,
    title: 'go',
    state: 'working',
    used_tokens: 118_600,
    compaction_tokens: 167_000,
    used_percent: 59.3,
    compaction_percent: 71,
    remaining_percent: 29,
    source: 'status-line',
    exact: false,
    level: 'warning',
    enabled: true,
  })
})

test('status prints the whole table without colours into a pipe', async () => {
  const trial = newTrial()
  climb(trial)
  const [head, row, ...rest] = (await trial.run(['status'])).stdout.trimEnd().split('\n')
  expect(head).toMatch(/^SESSION +SEAT +TITLE +PROJECT +MODEL +STATE +CONTEXT +FULL +TOKENS +LEVEL +CYCLE +AGE$/)
  expect(row).toMatch(
    /^aaaaaaaa {2}api {3}go {5}~\/shop {3}opus-4-6 {2}working {2}▰▰▰▰▰▰▰▱┃▱ {2}~71% {2}119k\/~167k {2}warning {6}1 +\ds$/,
  )
  expect(rest).toEqual(['', '~ derived, not told by the client'])
})

test('status --live leaves out ended sessions, and --all adds old ones', async () => {
  const trial = newTrial()
  climb(trial)
  trial.fill((app) => tellEvent(app, 'SessionEnd', A, trial.project, { reason: 'prompt_input_exit' }))
  trial.fill((app) => tell(app, { session: B, project: trial.project, used: 20_000 }), {
    now: new Date(Date.now() - 3 * 86_400_000),
  })
  trial.fill((app) => tellEvent(app, 'SessionEnd', B, trial.project, { reason: 'other' }), {
    now: new Date(Date.now() - 3 * 86_400_000),
  })
  const ids = async (...args: string[]) =>
    (await trial.run(['status', '--json', ...args])).json.sessions.map((s: { session_id: string }) => s.session_id)
  expect(await ids()).toEqual([A])
  expect(await ids('--all')).toEqual([A, B])
  expect(await ids('--live')).toEqual([])
  expect((await trial.run(['status', '--live'])).stdout).toContain('No session is live.')
  expect(await trial.run(['status', '--live', '--all'])).toMatchObject({ code: 2, stdout: '' })
})

test('status with only old sessions says how to see them', async () => {
  const trial = newTrial()
  climb(trial, new Date(Date.now() - 3 * 86_400_000))
  trial.fill((app) => tellEvent(app, 'SessionEnd', A, trial.project, { reason: 'other' }), {
    now: new Date(Date.now() - 3 * 86_400_000),
  })
  expect((await trial.run(['status'])).stdout).toBe(
    'No session in the last 24 hours.\nbaton status --all lists the older one.\n',
  )
})

test('status warns about a working session without readings', async () => {
  const trial = newTrial()
  trial.fill((app) => {
    for (let i = 0; i < 20; i++)
      tellEvent(app, 'PostToolBatch', B, trial.project, { tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${i}` }] })
  })
  expect((await trial.run(['status'])).stdout).toContain(
    'bbbbbbbb is enabled, but no reading arrives (20 tool calls, 0 min). Run baton doctor.',
  )
})

test('status does not warn about an idle session without readings', async () => {
  const trial = newTrial()
  trial.fill((app) => tellEvent(app, 'PostToolBatch', B, trial.project, { tool_calls: [{}] }), {
    now: new Date(Date.now() - 3_600_000),
  })
  expect((await trial.run(['status'])).stdout).not.toContain('no reading arrives')
})

test('status processes spooled signals of hooks before it prints', async () => {
  const trial = newTrial()
  const id = `${A}.1700000000.000001.1.UserPromptSubmit`
  const body = JSON.stringify({ session_id: A, cwd: trial.project, hook_event_name: 'UserPromptSubmit', prompt: 'go' })
  trial.put(
    join(trial.env.BATON_HOME!, 'spool', id),
    `claude-code\nUserPromptSubmit\n1700000000\nCLAUDE_PROJECT_DIR=${trial.project}\n\n\n${body}\n#end\n`,
  )
  expect((await trial.run(['status', '--json'])).json.sessions).toMatchObject([{ session_id: A, state: 'working' }])
})

test('status --watch needs a terminal', async () => {
  const trial = newTrial()
  for (const args of [
    ['status', '--watch'],
    ['status', '--watch', '--json'],
  ]) {
    const ran = await trial.run(args)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain('baton events --follow --json')
  }
})

test('status shows one row for each seat, --all also its earlier sessions, and --json every session', async () => {
  const trial = newTrial()
  climb(trial)
  trial.fill((app) => {
    tellEvent(app, 'SessionEnd', A, trial.project, { reason: 'clear' }, { BATON_SEAT: 'api' })
    tellEvent(app, 'SessionStart', B, trial.project, { source: 'clear' }, { BATON_SEAT: 'api' })
  })
  const rows = (text: string): string[] =>
    text.split('\n').flatMap((line) => /^(aaaaaaaa|bbbbbbbb)/.exec(line)?.[1] ?? [])
  const { stdout } = await trial.run(['status'])
  expect(rows(stdout)).toEqual(['bbbbbbbb'])
  expect(stdout).toContain('One session that has left its seat: baton status --all')
  const all = (await trial.run(['status', '--all'])).stdout
  expect(rows(all).sort()).toEqual(['aaaaaaaa', 'bbbbbbbb'])
  expect(all).not.toContain('has left')
  expect((await trial.run(['status', '--json'])).json.sessions).toHaveLength(2)
})

test('status lists sessions that wait for the user first, then working, idle and ended ones', async () => {
  const trial = newTrial()
  const at = (minutes: number): { now: Date } => ({ now: new Date(Date.now() - minutes * 60_000) })
  const ids = ['11111111', '22222222', '33333333', '44444444', '55555555'].map(
    (id) => `${id}-ef1f-4334-9716-3be98836406b`,
  )
  const [working, older, waiting, idle, ended] = ids as [string, string, string, string, string]
  const begin = (session: string, minutes: number): void =>
    trial.fill((app) => tellEvent(app, 'UserPromptSubmit', session, trial.project, { prompt: session }), at(minutes))
  begin(waiting, 50)
  trial.fill((app) => tellEvent(app, 'PermissionRequest', waiting, trial.project, { tool_name: 'Bash' }), at(49))
  begin(older, 8)
  begin(working, 7)
  begin(idle, 6)
  trial.fill((app) => tellEvent(app, 'Stop', idle, trial.project, { stop_hook_active: false }), at(5))
  begin(ended, 4)
  trial.fill((app) => tellEvent(app, 'SessionEnd', ended, trial.project, { reason: 'other' }), at(3))
  const { sessions } = (await trial.run(['status', '--json'])).json
  const order = sessions.map(({ session_id, state }: { session_id: string; state: string }) => [session_id, state])
  expect(order).toEqual([
    [waiting, 'waiting'],
    [working, 'working'],
    [older, 'working'],
    [idle, 'idle'],
    [ended, 'ended'],
  ])
})
