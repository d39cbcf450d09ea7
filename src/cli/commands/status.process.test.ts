import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome, sendClientEvent, sendReading, type TestHome } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
const KEYS =
  'session_id seat_id parent_seat_id agent agent_version project cwd branch model title state used_tokens ' +
  'window_tokens compaction_tokens compaction_mode used_percent compaction_percent remaining_percent source exact ' +
  'level cycle compactions handoffs handoff updated_at stale enabled handoff_tokens last_handoff_path ' +
  'transcript_path spend seat_name job_id started_at ended_at seen_at tokens_per_step steps_left subagents levels'

const climb = (fixture: TestHome, now?: Date): void =>
  fixture.fill(
    (app) => {
      sendClientEvent(app, 'UserPromptSubmit', A, fixture.project, { prompt: 'go' }, { BATON_SEAT: 'api' })
      sendReading(app, { session: A, project: fixture.project, used: 118_600 })
    },
    now ? { now } : {},
  )

test('status of an empty store says what to do next', async () => {
  const fixture = createTestHome()
  expect((await fixture.run(['status'])).stdout).toBe(
    'No sessions yet.\nRun baton install, then open Claude Code and send a prompt to see its session here.\n',
  )
  await fixture.run(['install'])
  expect((await fixture.run(['status'])).stdout).toContain('Baton is installed. Open Claude Code')
  expect(await fixture.run(['status', '--json'])).toMatchObject({ code: 0, stdout: '{"sessions":[]}\n', stderr: '' })
})

test('status --json has every field of a session and prints nothing else', async () => {
  const fixture = createTestHome()
  climb(fixture)
  const ran = await fixture.run(['status', '--json'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const [session] = ran.json.sessions
  expect(Object.keys(session).sort()).toEqual(KEYS.split(' ').sort())
  expect(session).toMatchObject({
    session_id: A,
    project: fixture.project,
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
  const fixture = createTestHome()
  climb(fixture)
  const [head, row, ...rest] = (await fixture.run(['status'])).stdout.trimEnd().split('\n')
  expect(head).toMatch(/^SESSION +SEAT +TITLE +PROJECT +MODEL +STATE +CONTEXT +FULL +TOKENS +LEVEL +CYCLE +AGE$/)
  expect(row).toMatch(
    new RegExp(
      String.raw`^aaaaaaaa {2}api {3}go {5}~\/shop {3}opus-4-6 {2}working {2}▰▰▰▰▰▰▰▱┃▱ {2}~71% {2}119k\/~167k` +
        String.raw` {2}warning {6}1 +\ds$`,
    ),
  )
  expect(rest).toEqual(['', expect.stringMatching(/^~ estimated/)])
})

test('status --live leaves out ended sessions, and --all adds old ones', async () => {
  const fixture = createTestHome()
  climb(fixture)
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', A, fixture.project, { reason: 'prompt_input_exit' }))
  fixture.fill((app) => sendReading(app, { session: B, project: fixture.project, used: 20_000 }), {
    now: new Date(Date.now() - 3 * 86_400_000),
  })
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', B, fixture.project, { reason: 'other' }), {
    now: new Date(Date.now() - 3 * 86_400_000),
  })
  const ids = async (...args: string[]) =>
    (await fixture.run(['status', '--json', ...args])).json.sessions.map((s: { session_id: string }) => s.session_id)
  expect(await ids()).toEqual([A])
  expect(await ids('--all')).toEqual([A, B])
  expect(await ids('--live')).toEqual([])
  expect((await fixture.run(['status', '--live'])).stdout).toContain('No session is running.')
  expect(await fixture.run(['status', '--live', '--all'])).toMatchObject({ code: 2, stdout: '' })
})

test('status with only old sessions says how to see them', async () => {
  const fixture = createTestHome()
  climb(fixture, new Date(Date.now() - 3 * 86_400_000))
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', A, fixture.project, { reason: 'other' }), {
    now: new Date(Date.now() - 3 * 86_400_000),
  })
  expect((await fixture.run(['status'])).stdout).toBe(
    'No sessions in the last 24 hours.\nbaton status --all lists 1 older session.\n',
  )
})

test('status warns about a working session without readings', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => {
    for (let i = 0; i < 20; i++)
      sendClientEvent(app, 'PostToolBatch', B, fixture.project, {
        tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${i}` }],
      })
  })
  expect((await fixture.run(['status'])).stdout).toContain(
    'Session bbbbbbbb sends no readings (20 tool calls, 0 min). Run baton doctor.',
  )
})

test('status does not warn about an idle session without readings', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendClientEvent(app, 'PostToolBatch', B, fixture.project, { tool_calls: [{}] }), {
    now: new Date(Date.now() - 3_600_000),
  })
  expect((await fixture.run(['status'])).stdout).not.toContain('no readings')
})

test('status processes spooled signals of hooks before it prints', async () => {
  const fixture = createTestHome()
  const id = `${A}.1700000000.000001.1.UserPromptSubmit`
  const body = JSON.stringify({
    session_id: A,
    cwd: fixture.project,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'go',
  })
  fixture.put(
    join(fixture.env.BATON_HOME!, 'spool', id),
    `claude-code\nUserPromptSubmit\n1700000000\nCLAUDE_PROJECT_DIR=${fixture.project}\n\n\n${body}\n#end\n`,
  )
  expect((await fixture.run(['status', '--json'])).json.sessions).toMatchObject([{ session_id: A, state: 'working' }])
})

test('status --watch needs a terminal', async () => {
  const fixture = createTestHome()
  for (const args of [
    ['status', '--watch'],
    ['status', '--watch', '--json'],
  ]) {
    const ran = await fixture.run(args)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain('baton events --follow --json')
  }
})

test('status shows one row for each seat, --all also its earlier sessions, and --json every session', async () => {
  const fixture = createTestHome()
  climb(fixture)
  fixture.fill((app) => {
    sendClientEvent(app, 'SessionEnd', A, fixture.project, { reason: 'clear' }, { BATON_SEAT: 'api' })
    sendClientEvent(app, 'SessionStart', B, fixture.project, { source: 'clear' }, { BATON_SEAT: 'api' })
  })
  const rows = (text: string): string[] =>
    text.split('\n').flatMap((line) => /^(aaaaaaaa|bbbbbbbb)/.exec(line)?.[1] ?? [])
  const { stdout } = await fixture.run(['status'])
  expect(rows(stdout)).toEqual(['bbbbbbbb'])
  expect(stdout).toContain('1 earlier session is not shown (baton status --all)')
  const all = (await fixture.run(['status', '--all'])).stdout
  expect(rows(all).sort()).toEqual(['aaaaaaaa', 'bbbbbbbb'])
  expect(all).not.toContain('not shown')
  expect((await fixture.run(['status', '--json'])).json.sessions).toHaveLength(2)
})

test('status lists sessions that wait for the user first, then working, idle and ended ones', async () => {
  const fixture = createTestHome()
  const at = (minutes: number): { now: Date } => ({ now: new Date(Date.now() - minutes * 60_000) })
  const ids = ['11111111', '22222222', '33333333', '44444444', '55555555'].map(
    (id) => `${id}-ef1f-4334-9716-3be98836406b`,
  )
  const [working, older, waiting, idle, ended] = ids as [string, string, string, string, string]
  const begin = (session: string, minutes: number): void =>
    fixture.fill(
      (app) => sendClientEvent(app, 'UserPromptSubmit', session, fixture.project, { prompt: session }),
      at(minutes),
    )
  begin(waiting, 50)
  fixture.fill(
    (app) => sendClientEvent(app, 'PermissionRequest', waiting, fixture.project, { tool_name: 'Bash' }),
    at(49),
  )
  begin(older, 8)
  begin(working, 7)
  begin(idle, 6)
  fixture.fill((app) => sendClientEvent(app, 'Stop', idle, fixture.project, { stop_hook_active: false }), at(5))
  begin(ended, 4)
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', ended, fixture.project, { reason: 'other' }), at(3))
  const { sessions } = (await fixture.run(['status', '--json'])).json
  const order = sessions.map(({ session_id, state }: { session_id: string; state: string }) => [session_id, state])
  expect(order).toEqual([
    [waiting, 'waiting'],
    [working, 'working'],
    [older, 'working'],
    [idle, 'idle'],
    [ended, 'ended'],
  ])
})
