import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startHookReceiver } from '../../src/testing/job-hooks.js'
import { trustProject } from '../harness/trust.js'
import { type JobStage, jobStage } from './job-stage.js'

const SECRETS = {
  SLACK_BOT_TOKEN: 'xoxb-very-secret-1',
  TEAM_DISCORD: 'very-secret-2',
  HOOK_KEY: 'very-secret-3',
  MY_PASSWORD: 'very-secret-4',
}

/** Returns every file below a folder that contains one of the texts. */
function filesWith(folder: string, texts: string[]): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file)
      return texts.some((text) => bytes.includes(text) || bytes.includes(Buffer.from(text).toString('base64')))
    })
}

const MODEL = 'claude-opus-4-6'
const write = (it: JobStage, hooks: string, more = ''): void => {
  writeFileSync(
    path.join(it.home.project, 'baton.yaml'),
    'agents:\n  - name: coder\n    prompt: Do all steps.\n    permission_mode: bypassPermissions\n' +
      `${more}    hooks:\n${hooks}`,
  )
  trustProject(it.home.env, it.home.project)
}

const file = (it: JobStage, name: string): string => readFileSync(path.join(it.home.project, name), 'utf8')
const lines = (it: JobStage, name: string): Record<string, never>[] =>
  file(it, name)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('every hook of a real job gets its payload, its answer takes effect, no secret is stored', async () => {
  const server = await startHookReceiver(({ path: at }) =>
    at.startsWith('/threshold')
      ? { body: '{"decision":"handoff"}' }
      : at === '/start'
        ? { body: JSON.stringify({ context: `Remember ${SECRETS.HOOK_KEY}, said the web.` }) }
        : { body: '{"ok":true}' },
  )
  onTestFinished(server.close)
  const brief = '# Handoff brief\n\n## Goal and why\n\nAll steps.\n\n## Next exact step\n\nStep 3.\n'
  const it = await jobStage(
    {
      steps: [
        { bash: 'echo 1 >> steps', used: 90_008 },
        { bash: 'echo 2 >> steps', used: 152_008 },
      ],
      replies: [{ when: 'as your whole answer', text: brief }],
      conversations: [
        {
          when: { seen: 'You continue a job' },
          steps: [{ bash: 'echo 3 >> steps', used: 30_008 }, 'All steps are done.'],
        },
      ],
    },
    // The job names no model, so the client uses its default.
    { ...SECRETS, ANTHROPIC_MODEL: MODEL },
  )
  const [to, headers] = [server.url, `headers: { X-Key: "\${HOOK_KEY}" }`]
  write(
    it,
    `      on_session_start:
        - type: shell
          command: "tee -a started; echo >> started"
          on_events: [session_start]
          when: session.is_continuation
        - { type: shell, command: "echo 'From the shell'; echo \\"$MY_PASSWORD\\"; echo \\"$MY_PASSWORD\\" >&2" }
        - { type: webhook, url: "${to}/start", ${headers} }
      on_context_threshold:
        - { type: shell, command: "tee full; echo; echo abort" }
        - { type: webhook, url: "${to}/threshold?key=\${HOOK_KEY}", ${headers} }
        - { type: slack, channel_id: C1, base_url: "${to}/slack" }
      on_error:
        - { type: shell, command: "touch never" }
      after_run:
        - { type: shell, command: "cat > ended; echo \\"$HOOK_KEY\\" >&2; exit 1" }
        - { type: slack, channel_id: C1, base_url: "${to}/slack", on_events: [completed], username: baton }
        - type: discord
          channel_id: "22"
          base_url: "${to}/discord"
          bot_token_env: TEAM_DISCORD
          when: result.success
        - { type: webhook, url: "${to}/never", on_events: [failed, timeout] }
        - { type: webhook, url: "${to}/never", when: result.error }
        - { type: webhook, url: "${to}/ended", method: PUT, ${headers} }
`,
  )
  const ran = await it.baton('run', 'coder', '--json')
  const job = JSON.parse(ran.stdout || '{}')
  expect({ code: ran.code, stderr: ran.stderr, ...job }).toMatchObject({ code: 0, status: 'completed', handoffs: 1 })
  const [one, two] = job.sessions as { session_id: string; brief_id: string | null }[]

  // The last hook with an answer decides: the agent writes the brief.
  const names = { agent_name: 'coder', job_id: job.job_id, worktree_path: null, branch_name: null }
  const figures = { input_tokens: 152_008, context_window: 200_000, usage_percent: 0.76, remaining_percent: 0.24 }
  const full = JSON.parse(file(it, 'full'))
  expect(full).toEqual({
    hook_event_name: 'context_threshold',
    context: { ...figures, model_name: MODEL, compaction_tokens: 167_000, compaction_percent: 0.9102 },
    session: { session_id: one!.session_id, ...names, working_directory: it.home.project },
    original_prompt: 'Do all steps.',
  })
  const [second, third] = it.firsts()
  expect(third!.text).toContain('Step 3.')
  // Texts of the hooks come in order and before the task.
  for (const { text } of [second!, third!])
    expect(text).toMatch(/From the shell\n\[secret\]\n\nRemember \[secret\], said the web\.\n\n[\s\S]*Do all steps\./)
  expect(lines(it, 'started')).toMatchObject([
    {
      hook_event_name: 'session_start',
      session: {
        session_id: two!.session_id,
        is_continuation: true,
        previous_session_id: one!.session_id,
        handoff_count: 1,
      },
      prompt: expect.stringContaining('Step 3.'),
    },
  ])

  const end = JSON.parse(file(it, 'ended'))
  expect(end).toMatchObject({
    event: 'completed',
    job: {
      id: job.job_id,
      agent: 'coder',
      status: 'completed',
      exit_reason: 'success',
      duration_ms: expect.any(Number),
    },
    result: { success: true, output: 'All steps are done.', error: null },
    agent: { id: 'coder' },
    metadata: { handoffs: 1, session_id: two!.session_id },
  })
  const heard = server.received.map(({ method, path: at, headers: { authorization, 'x-key': key }, body }) => ({
    method,
    at,
    authorization,
    key,
    body: JSON.parse(body),
  }))
  expect(heard).toMatchObject([
    {
      at: '/start',
      key: SECRETS.HOOK_KEY,
      body: { session: { is_continuation: false, handoff_count: 0 }, prompt: 'Do all steps.' },
    },
    { at: `/threshold?key=${SECRETS.HOOK_KEY}`, body: full },
    { at: '/slack/chat.postMessage', authorization: `Bearer ${SECRETS.SLACK_BOT_TOKEN}`, body: { channel: 'C1' } },
    { at: '/start', body: { session: { is_continuation: true } } },
    { at: '/slack/chat.postMessage', body: { username: 'baton' } },
    { at: '/discord/channels/22/messages', authorization: `Bot ${SECRETS.TEAM_DISCORD}` },
    { method: 'PUT', at: '/ended', body: end },
  ])
  expect(existsSync(path.join(it.home.project, 'never'))).toBe(false)

  // Store, logs and transcripts contain the hooks' output without values from the environment.
  const log = (await it.baton('jobs', 'logs', job.job_id)).stdout
  expect(log).toMatch(/hook `shell 1` \(completed\) failed: exited with 1: \[secret\]/)
  expect(log).toMatch(/hook decision: handoff \(the hook `webhook 2`/)
  expect(filesWith(it.home.batonHome, Object.values(SECRETS))).toEqual([])
  expect(filesWith(it.home.home, Object.values(SECRETS))).toEqual([])
})

test('a hook that answers continue cancels the handoff it was asked about', async () => {
  const it = await jobStage({ steps: [{ bash: 'echo 1 >> steps', used: 152_008 }, 'All steps are done.'] })
  write(it, '      on_context_threshold: [{ type: shell, command: "echo continue" }]\n')
  const ran = await it.baton('run', 'coder', '--model', MODEL, '--json')
  expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'completed', handoffs: 0, result: 'All steps are done.' })
  const told = (await it.baton('events', '--json')).stdout.trim().split('\n')
  const handoffs = told.map((line) => JSON.parse(line)).filter(({ type }) => type.startsWith('handoff_'))
  expect(handoffs.map(({ type }) => type)).toEqual(['handoff_started', 'handoff_cancelled'])
  expect(handoffs[1]).toMatchObject({ job_id: expect.any(String), data: { handoffNumber: 1, newSessionId: null } })
})

/** Runs a job on the scripted runtime whose first session is full after one step. */
async function scripted(it: JobStage, hooks: string, more = '') {
  write(it, hooks, `    runtime: scripted\n${more}`)
  const script = path.join(it.home.dir, 'script.json')
  const full = { calls: [{ input: 'echo 1' }], used: 155_000 }
  const replies = [{ when: 'handoff brief', text: '# Handoff brief\n\n## State\n\nHalf, says the agent.' }]
  writeFileSync(script, JSON.stringify({ sessions: [[full, { text: 'Done at once.' }], [{ text: 'Done.' }]], replies }))
  const { code, stdout, stderr } = await it.start(['run', 'coder', '--json'], { BATON_JOB_SCRIPT: script }).done
  const job = JSON.parse(stdout || '{}')
  const log = job.job_id ? (await it.baton('jobs', 'logs', job.job_id)).stdout : ''
  const next = path.join(it.home.batonHome, 'jobs', `${job.job_id}`, 'prompt-2.md')
  return { code, stderr, job, log, next: existsSync(next) ? readFileSync(next, 'utf8') : '' }
}

test('a job continues when its hooks flood, fail or cannot connect, and reports the decision', async () => {
  const it = await jobStage({ steps: [] })
  const gone = await startHookReceiver(() => null)
  await gone.close()
  const flooded = await scripted(
    it,
    `      on_session_start:
        - { type: shell, command: "head -c 10000000 /dev/zero | tr '\\\\0' x" }
      on_context_threshold:
        - { type: webhook, url: "${gone.url}/", timeout: 5000 }
        - { type: shell, command: "echo continue; exit 1" }
      after_run:
        - { type: webhook, url: "${gone.url}/" }
        - { type: shell, command: "touch after" }
`,
  )
  expect(flooded).toMatchObject({ code: 0, stderr: '', job: { status: 'completed', handoffs: 1 } })
  // No successful hook decided and a failing hook does not stop the others, so Baton writes the
  // brief.
  expect(flooded.next).toContain('A hook ended the session')
  expect(flooded.next).toMatch(
    /^\[baton\] [^\n]*hooks[^\n]*\n\nx{40000}\n\[baton\] \d+ characters [^\n]*\n\n\[baton\] You continue a job/,
  )
  expect(flooded.log).toMatch(/`webhook 1` \(context_threshold\) failed: is not reachable: ECONNREFUSED/)
  expect(existsSync(path.join(it.home.project, 'after'))).toBe(true)

  const gated = await scripted(
    it,
    `      on_context_threshold:
        - { type: shell, name: Gate, command: "echo no >&2; exit 1", continue_on_error: false }
        - { type: shell, command: "echo continue" }
`,
  )
  expect(gated).toMatchObject({ code: 0, job: { status: 'completed', handoffs: 1 } })
  expect(gated.next).toContain('Half, says the agent.')
  expect(gated.log).toMatch(/hook decision: handoff \(the hook `Gate` failed \(exited with 1: no\)/)

  const goes = await scripted(it, '      on_context_threshold: [{ type: shell, command: "echo continue" }]\n')
  expect(goes).toMatchObject({ code: 0, job: { status: 'completed', handoffs: 0, result: 'Done at once.' } })

  const failing = await scripted(
    it,
    `      on_error: [{ type: shell, command: "cat > error; exit 1", continue_on_error: false }]
      after_run: [{ type: shell, command: "touch reached" }]
`,
    '    checks: ["false"]\n    check_rounds: 0\n    max_handoffs: 0\n',
  )
  expect(failing).toMatchObject({ code: 1, job: { status: 'failed', exit_reason: 'error' } })
  expect(JSON.parse(file(it, 'error'))).toMatchObject({
    event: 'failed',
    result: { success: false, error: expect.stringMatching(/checks.*: false$/) },
  })
  expect(existsSync(path.join(it.home.project, 'reached'))).toBe(true)
})
