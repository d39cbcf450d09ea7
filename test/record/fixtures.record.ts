import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, onTestFinished, test } from 'vitest'
import { SIGNAL_VARIABLES } from '../../src/agents/claude-code/environment.js'
import { startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { startTape, type Tape, type TapedEvent } from '../client/claude-code/tape.js'
import { type Home, makeHome } from '../harness/home.js'
import { REPOSITORY } from '../harness/paths.js'
import { runPrint } from '../harness/run-print.js'
import { startTui } from '../harness/tui.js'
import { pause } from '../harness/wait.js'
import { scrub, scrubTranscript } from './scrub.js'

/** Folder for new recordings, moved to the folder of the client's version on success. */
const fresh = path.join(REPOSITORY, 'test', 'fixtures', 'claude-code', 'fresh')
let version = 'unknown'
let failed = false

beforeAll(() => rmSync(fresh, { recursive: true, force: true }))
afterEach(({ task }) => {
  failed ||= task.result?.state === 'fail'
})
afterAll(() => {
  if (failed) return
  const kept = path.join(path.dirname(fresh), version)
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(path.dirname(kept), { recursive: true })
  for (const name of readdirSync(fresh, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue
    const from = path.join(name.parentPath, name.name)
    put(path.join(kept, path.relative(fresh, from)), readFileSync(from, 'utf8'))
  }
  rmSync(fresh, { recursive: true, force: true })
})

function put(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}

async function stage(script: ScriptInput): Promise<{ home: Home; tape: Tape }> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  return { home, tape: startTape(home, path.join(home.dir, 'none')) }
}

function keepEvent(home: Home, name: string, told: TapedEvent | undefined): void {
  if (told === undefined) throw new Error(`the client never told ${name}`)
  const env = Object.fromEntries(
    SIGNAL_VARIABLES.flatMap((key) => (told.env[key] === undefined ? [] : [[key, told.env[key]]])),
  )
  put(
    path.join(fresh, 'events', `${name}.json`),
    `${JSON.stringify(scrub(home, { kind: told.event, env, body: told.body }), null, 2)}\n`,
  )
}

function keepTranscript(home: Home, name: string, sessionId: string | null): void {
  const text = home.transcript(sessionId!)!
  put(path.join(fresh, 'transcripts', `${name}.jsonl`), scrubTranscript(home, text))
  version = /"version":"([^"]+)"/.exec(text)?.[1] ?? version
  const folder = path.join(
    home.configDir,
    'projects',
    home.project.replace(/[^a-zA-Z0-9]/g, '-'),
    sessionId!,
    'subagents',
  )
  if (!existsSync(folder)) return
  for (const file of readdirSync(folder)) {
    const inside = readFileSync(path.join(folder, file), 'utf8')
    const clean = file.endsWith('.jsonl')
      ? scrubTranscript(home, inside)
      : JSON.stringify(scrub(home, JSON.parse(inside)))
    put(path.join(fresh, 'transcripts', name, 'subagents', file), clean)
  }
}

const first = (
  tape: Tape,
  event: string,
  fits: (body: Record<string, unknown>) => boolean = () => true,
): TapedEvent | undefined => tape.recorded().find((told) => told.event === event && fits(told.body))

test('records thinking, parallel tools, a failing tool and a subagent in print mode', async () => {
  const { home, tape } = await stage({
    steps: [
      { thinking: 'Let me see.', text: 'I look.', bash: ['echo a', 'echo b'], used: 50_008 },
      { agent: 'SUB work', used: 60_008 },
      { bash: 'false', used: 70_008 },
      { text: 'Done.', used: 75_008 },
    ],
    subagents: [
      {
        steps: [
          { bash: 'echo sub', used: 20_008 },
          { text: 'Sub done.', used: 22_008 },
        ],
      },
    ],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  const main = (body: Record<string, unknown>) => body.agent_id === undefined
  const inside = (body: Record<string, unknown>) => body.agent_id !== undefined
  for (const event of [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'PostToolBatch',
    'Stop',
    'SessionEnd',
  ]) {
    keepEvent(home, `print.${event}`, first(tape, event, main))
  }
  for (const event of ['SubagentStart', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'SubagentStop']) {
    keepEvent(home, `print.subagent.${event}`, first(tape, event, inside))
  }
  keepTranscript(home, 'parallel-and-subagent', run.sessionId)

  const fork = await runPrint(home, {
    prompt: 'again',
    model: 'claude-opus-4-6',
    args: ['--resume', run.sessionId!, '--fork-session'],
  })
  keepEvent(
    home,
    'print.SessionStart.fork',
    first(tape, 'SessionStart', (body) => body.source === 'fork'),
  )
  keepTranscript(home, 'fork', fork.sessionId)
})

test('records a compaction by threshold and one after a refusal in print mode', async () => {
  const climb: ScriptInput = {
    steps: [{ bash: 'echo {{n}}', used: 150_008, grow: 20_000, repeat: 3 }, 'Never said.'],
    after_compaction: [{ bash: 'echo x', used: 30_008 }, 'Done.'],
  }
  const proactive = await stage(climb)
  const run = await runPrint(proactive.home, { prompt: 'go', model: 'claude-opus-4-6' })
  for (const event of ['PreCompact', 'SubagentStop', 'PostCompact'])
    keepEvent(proactive.home, `compaction.${event}`, first(proactive.tape, event))
  keepEvent(
    proactive.home,
    'compaction.SessionStart',
    first(proactive.tape, 'SessionStart', (body) => body.source === 'compact'),
  )
  keepTranscript(proactive.home, 'compaction-proactive', run.sessionId)

  const reactive = await stage({ ...climb, maximum: 190_000 })
  const refused = await runPrint(reactive.home, { prompt: 'go', model: 'claude-sonnet-4-5' })
  keepTranscript(reactive.home, 'compaction-reactive', refused.sessionId)
})

test('records a refused prompt without compaction, and a 1M model', async () => {
  const { home, tape } = await stage({
    steps: [
      { bash: 'echo a', used: 150_008 },
      { fail: 'too-long', used: 151_008 },
    ],
  })
  // In print mode the client ends without waiting for this hook.
  const tui = await startTui(home, { model: 'claude-sonnet-4-5', env: { DISABLE_AUTO_COMPACT: '1' } })
  const sessionId = tui.sessionId()
  await tui.submit('go')
  await tape.waitFor('the failure', (told) => told.some(({ event }) => event === 'StopFailure'))
  await tui.exit()
  keepEvent(home, 'refused.StopFailure', first(tape, 'StopFailure'))
  keepTranscript(home, 'refused', sessionId)

  const large = await stage({ steps: [{ bash: 'echo a', used: 250_008 }, 'Done.'] })
  const other = await runPrint(large.home, { prompt: 'go', model: 'claude-sonnet-4-5[1m]' })
  keepTranscript(large.home, 'large-window', other.sessionId)
})

test('records status line, compact, clear, permission dialog and resume in the terminal', async () => {
  const { home, tape } = await stage({
    steps: [{ bash: 'echo a', used: 50_008 }, 'Done.'],
    after_compaction: [{ bash: 'echo b', used: 30_008 }, 'Done again.'],
    conversations: [{ when: 'ask me', steps: [{ bash: 'touch new-file', used: 40_008 }, 'Asked.'] }],
  })
  const keepLine = async (moment: string): Promise<void> => {
    // The client updates its status line up to 0.3 s after the event.
    await pause(1500)
    keepEvent(
      home,
      `status-line.${moment}`,
      tape.recorded().findLast(({ event }) => event === 'status-line'),
    )
  }
  const tui = await startTui(home, {
    model: 'claude-opus-4-6',
    bypass: false,
    args: ['--permission-mode', 'default', '--allowedTools', 'Bash(echo:*)'],
  })
  await keepLine('start')
  keepEvent(home, 'terminal.SessionStart', first(tape, 'SessionStart'))
  await tui.submit('go')
  await tui.waitIdle()
  await keepLine('after-answer')
  keepEvent(home, 'terminal.UserPromptSubmit', first(tape, 'UserPromptSubmit'))
  keepEvent(home, 'terminal.PostToolBatch', first(tape, 'PostToolBatch'))
  await tui.submit('/compact')
  await tape.waitFor('the compaction', (told) => told.some(({ event }) => event === 'PostCompact'))
  await keepLine('after-compact')
  keepEvent(home, 'terminal.PreCompact', first(tape, 'PreCompact'))
  await tui.submit('/clear')
  await tape.waitFor('the clear', (told) => told.some(({ body }) => body.source === 'clear'))
  await keepLine('after-clear')
  keepEvent(home, 'terminal.SessionEnd.clear', first(tape, 'SessionEnd'))
  keepEvent(
    home,
    'terminal.SessionStart.clear',
    first(tape, 'SessionStart', (body) => body.source === 'clear'),
  )
  await tui.submit('ask me')
  await tape.waitFor('the question', (told) => told.some(({ event }) => event === 'Notification'))
  keepEvent(home, 'terminal.PermissionRequest', first(tape, 'PermissionRequest'))
  keepEvent(home, 'terminal.Notification.permission', first(tape, 'Notification'))
  await tui.key('Enter')
  await tui.waitStatus('idle')
  await tape.waitFor('the idle notice', (told) => told.some(({ body }) => body.notification_type === 'idle_prompt'))
  keepEvent(
    home,
    'terminal.Notification.idle',
    first(tape, 'Notification', (body) => body.notification_type === 'idle_prompt'),
  )
  const sessionId = tui.sessionId()
  await tui.exit()
  keepEvent(
    home,
    'terminal.SessionEnd.exit',
    first(tape, 'SessionEnd', (body) => body.reason === 'prompt_input_exit'),
  )
  const again = await startTui(home, { model: 'claude-opus-4-6', args: ['--resume', sessionId!] })
  await keepLine('after-resume')
  keepEvent(
    home,
    'terminal.SessionStart.resume',
    first(tape, 'SessionStart', (body) => body.source === 'resume'),
  )
  await again.submit('/branch')
  await tape.waitFor('the branch', (told) => told.some(({ body }) => body.source === 'fork'))
  const branch = first(tape, 'SessionStart', (body) => body.source === 'fork')
  keepEvent(home, 'terminal.SessionStart.branch', branch)
  keepEvent(
    home,
    'terminal.SessionEnd.branch',
    first(tape, 'SessionEnd', (body) => body.reason === 'resume'),
  )
  keepTranscript(home, 'branch', String(branch?.body.session_id))
})
