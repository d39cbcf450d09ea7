import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const CLIENT = join(process.cwd(), 'node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude')

const EVENTS = [
  ...[
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PermissionRequest',
    'PostToolUse',
    'PostToolUseFailure',
    'PostToolBatch',
  ],
  ...['Notification', 'Stop', 'StopFailure', 'SubagentStart', 'SubagentStop', 'PreCompact', 'PostCompact', 'SessionEnd'],
]

export interface Told {
  /** The client's event, or `status-line`. */
  event: string
  body: Record<string, unknown>
  env: Record<string, string>
}

/** A home of its own for one real client, whose every hook writes down what it was given. */
export class Stage {
  readonly home = mkdtempSync(join(tmpdir(), 'baton-record-'))
  readonly project = join(this.home, 'project')
  readonly tape = join(this.home, 'tape')
  private readonly socket = `baton-record-${process.pid}-${Math.random().toString(36).slice(2, 8)}`
  private tmuxRuns = false

  constructor(
    readonly url: string,
    settings: Record<string, unknown> = {},
  ) {
    for (const dir of [this.project, this.tape, join(this.home, '.claude')]) mkdirSync(dir, { recursive: true })
    const recorder = join(this.home, 'record.sh')
    writeFileSync(
      recorder,
      `n=$(date +%s%N)\ncat > "${this.tape}/$n-$1.body"\nenv > "${this.tape}/$n-$1.env"\nmv "${this.tape}/$n-$1.body" "${this.tape}/$n-$1.json"\n[ "$1" = status-line ] && echo "line $n"\nexit 0\n`,
    )
    const hooks = Object.fromEntries(
      EVENTS.map((event) => [event, [{ hooks: [{ type: 'command', command: `sh ${recorder} ${event}` }] }]]),
    )
    const statusLine = { type: 'command', command: `sh ${recorder} status-line` }
    writeFileSync(join(this.home, '.claude', 'settings.json'), JSON.stringify({ hooks, statusLine, ...settings }))
    writeFileSync(
      join(this.home, '.claude.json'),
      JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['sk-fake'], rejected: [] },
        projects: { [this.project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    )
  }

  env(more: Record<string, string> = {}): Record<string, string> {
    return {
      HOME: this.home,
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ANTHROPIC_BASE_URL: this.url,
      ANTHROPIC_API_KEY: 'sk-fake',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      IS_SANDBOX: '1',
      ...more,
    }
  }

  /** Runs `claude -p` to its end. */
  print(
    args: string[],
    prompt: string,
    env: Record<string, string> = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      const child = spawn(CLIENT, ['-p', ...args, prompt], {
        cwd: this.project,
        env: this.env(env),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let stdout = ''
      let stderr = ''
      child.stdout.on('data', (data) => (stdout += data))
      child.stderr.on('data', (data) => (stderr += data))
      const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
      child.on('close', (code) => {
        clearTimeout(timer)
        resolve({ code, stdout, stderr })
      })
    })
  }

  /** Starts the interactive client in a terminal of its own. */
  open(args: string[], env: Record<string, string> = {}): void {
    const assignments = Object.entries(this.env(env)).map(([name, value]) => `${name}=${value}`)
    this.tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-s',
      'main',
      '-x',
      '150',
      '-y',
      '45',
      '-c',
      this.project,
      'env',
      '-i',
      ...assignments,
      CLIENT,
      ...args,
    )
    this.tmuxRuns = true
  }

  screen(): string {
    return this.tmux('capture-pane', '-p', '-t', 'main')
  }

  type(text: string): void {
    this.tmux('send-keys', '-t', 'main', '-l', text)
    this.tmux('send-keys', '-t', 'main', 'Enter')
  }

  key(name: string): void {
    this.tmux('send-keys', '-t', 'main', name)
  }

  private tmux(...args: string[]): string {
    return execFileSync('tmux', ['-L', this.socket, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  }

  told(): Told[] {
    return readdirSync(this.tape)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => ({
        event: name.slice(name.indexOf('-') + 1, -'.json'.length),
        body: JSON.parse(readFileSync(join(this.tape, name), 'utf8')),
        env: readEnv(join(this.tape, name.replace(/\.json$/, '.env'))),
      }))
  }

  /** Waits until what the client told satisfies a condition. */
  async until(what: string, fits: (told: Told[]) => boolean, ms = 30_000): Promise<void> {
    const end = Date.now() + ms
    while (!fits(this.told())) {
      if (Date.now() > end) throw new Error(`waited in vain for: ${what}\n${this.tmuxRuns ? this.screen() : ''}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  close(): void {
    if (this.tmuxRuns) {
      try {
        this.tmux('kill-server')
      } catch {
        // the client ended by itself
      }
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

function readEnv(path: string): Record<string, string> {
  const entries = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
  return Object.fromEntries(entries.filter(([name]) => /^(CLAUDE|AI_AGENT)/.test(name)))
}
