import { execFile, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Session } from '../../src/contract/api/session-view.js'
import { removeFolder } from '../../src/lib/remove-folder.js'
import { hostCommands } from '../harness/hosted-commands.js'
import { BATON, PREFIX } from '../harness/paths.js'
import { alive, end, withEnvironment } from '../harness/processes.js'
import { PATIENCE_MS, until } from '../harness/wait.js'

/**
 * A user's machine with Baton installed, shared by the attacks of one file. Each attack uses
 * sessions and folders of its own.
 */
export interface Victim {
  dir: string
  /** Null when no server runs. */
  server: { pid: number; url: string } | null
  /** Makes an empty folder. */
  folder(): string
  /** Runs the installed hook as the client would. Rejects when the hook does not end by itself. */
  hook(event: string, body: Record<string, unknown>, env?: Record<string, string>): Promise<HookEnd>
  /**
   * Asks the server whether it runs and sends a reading of an unrelated session. Returns once
   * `baton status` shows that reading and the session `beside`.
   */
  healthySession(beside?: string): Promise<void>
  session(id: string): Promise<Session | undefined>
  baton(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>
  /** Waits until every process that hooks started here has ended. */
  allEnded(): Promise<void>
  dispose(): Promise<void>
}

export interface HookEnd {
  code: number | null
  stdout: string
  stderr: string
}

export async function startVictim(options: { server: boolean; config?: string }): Promise<Victim> {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), PREFIX)))
  const home = path.join(dir, 'home')
  const configDir = path.join(home, '.claude')
  const batonHome = path.join(dir, 'baton')
  for (const folder of [configDir, path.join(dir, 'tmp'), path.join(dir, 'project')])
    mkdirSync(folder, { recursive: true })
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    HOME: home,
    BATON_HOME: batonHome,
    CLAUDE_CONFIG_DIR: configDir,
    TMPDIR: path.join(dir, 'tmp'),
  }
  const baton: Victim['baton'] = (...args) =>
    new Promise((resolve) => {
      const call = execFile(
        process.execPath,
        [BATON, ...args],
        { env, cwd: path.join(dir, 'project'), timeout: PATIENCE_MS, killSignal: 'SIGKILL' },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr }),
      )
      call.stdin?.end()
    })
  const hosted = hostCommands({ env, project: path.join(dir, 'project') })
  const installed = await hosted.run(['install', '--json'])
  if (installed.code !== 0) throw new Error(`baton install failed: ${installed.stdout}${installed.stderr}`)
  writeFileSync(path.join(batonHome, 'config.yaml'), options.config ?? 'handoff: {mode: off}\n')
  const server = options.server ? await serve(env, path.join(dir, 'project')) : null
  const client = spawn('sleep', ['600'], { env, stdio: 'ignore' })
  let made = 0
  let readings = 0

  const sessions = async (): Promise<Session[]> => {
    const run = await hosted.run(['status', '--json'])
    if (run.code !== 0) throw new Error(`baton status failed: ${run.stdout}${run.stderr}`)
    return (JSON.parse(run.stdout) as { sessions: Session[] }).sessions
  }
  const victim: Victim = {
    dir,
    server,
    baton,
    folder() {
      const folder = path.join(dir, 'attacks', String(++made))
      mkdirSync(folder, { recursive: true })
      return folder
    },
    hook: (event, body, more = {}) =>
      runHook(
        commandOf(configDir, event),
        JSON.stringify({ permission_mode: 'default', hook_event_name: event, ...body }),
        {
          ...env,
          CLAUDE_PID: String(client.pid),
          CLAUDE_CODE_ENTRYPOINT: 'cli',
          AI_AGENT: 'claude-code_2-1-325_harness',
          ...more,
        },
        dir,
      ),
    async healthySession(beside = 'healthy') {
      if (server) await fetch(`${server.url}/health`, { signal: AbortSignal.timeout(PATIENCE_MS) })
      const used = 10_008 + ++readings * 100
      const transcript = path.join(configDir, 'healthy.jsonl')
      appendFileSync(transcript, `${answerLine('healthy', readings, used)}\n`)
      const call = { tool_name: 'Bash', tool_use_id: `toolu_healthy_${readings}` }
      const body = { session_id: 'healthy', transcript_path: transcript, cwd: dir, tool_calls: [call] }
      await victim.hook('PostToolBatch', body)
      await until(`the healthy session has ${used} tokens, and ${beside} is known`, async () => {
        const all = await sessions()
        const isRead = all.some((one) => one.session_id === 'healthy' && one.used_tokens === used)
        return isRead && all.some((one) => one.session_id === beside)
      })
    },
    session: async (id) => (await sessions()).find((one) => one.session_id === id),
    async allEnded() {
      const kept = [server?.pid, client.pid]
      const running = (): number[] =>
        withEnvironment(`BATON_HOME=${batonHome}`).filter((pid) => !kept.includes(pid) && alive(pid))
      await until(
        () => `processes ${running().map(commandLineOf)} end`,
        () => running().length === 0,
      )
    },
    async dispose() {
      for (const pid of withEnvironment(`BATON_HOME=${batonHome}`)) await end(pid)
      removeFolder(dir)
    },
  }
  return victim
}

/** A line of a transcript: one answer that calls one tool, with this many tokens in use. */
export function answerLine(sessionId: string, n: number, used: number): string {
  return JSON.stringify({
    type: 'assistant',
    isSidechain: false,
    uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    sessionId,
    timestamp: new Date().toISOString(),
    requestId: `req_${sessionId}_${n}`,
    message: {
      id: `msg_${sessionId}_${n}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-6',
      content: [{ type: 'tool_use', id: `toolu_${sessionId}_${n}`, name: 'Bash', input: { command: 'ls' } }],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 8,
        cache_creation_input_tokens: 1000,
        cache_read_input_tokens: used - 1008,
        output_tokens: 5,
      },
    },
  })
}

export const makePipe = (file: string): void => void execFileSync('mkfifo', [file])

function commandOf(configDir: string, event: string): string {
  const settings = JSON.parse(readFileSync(path.join(configDir, 'settings.json'), 'utf8')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>
  }
  return settings.hooks[event]!.at(-1)!.hooks[0]!.command
}

function runHook(command: string, stdin: string, env: Record<string, string>, cwd: string): Promise<HookEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    const hung = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`the hook did not return within ${PATIENCE_MS} ms`))
    }, PATIENCE_MS)
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (data) => {
      stdout += data
    })
    child.stderr.on('data', (data) => {
      stderr += data
    })
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
    child.on('close', (code) => {
      clearTimeout(hung)
      resolve({ code, stdout, stderr })
    })
  })
}

async function serve(env: Record<string, string>, cwd: string): Promise<{ pid: number; url: string }> {
  const child = spawn(process.execPath, [BATON, 'serve', '--port', '0', '--json'], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await until('the server listens', () => said.includes('\n'))
  return { pid: child.pid!, url: (JSON.parse(said) as { url: string }).url }
}

function commandLineOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`
  return `${pid} ${existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\0', ' ') : ''}`
}
