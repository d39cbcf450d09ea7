import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Home } from './home.js'
import { clientBinary } from './paths.js'
import { alive, end } from './processes.js'
import { PATIENCE_MS, until } from './wait.js'

const exec = promisify(execFile)

export interface TuiOptions {
  model?: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  cols?: number
  rows?: number
  /** False to apply the client's own permission rules. */
  bypass?: boolean
}

/** The client's live registry entry of one process (`sessions/<pid>.json`). */
export interface Registry {
  pid: number
  sessionId: string
  status: 'idle' | 'busy' | 'waiting'
  statusUpdatedAt: number
  updatedAt: number
  tmux?: string
  [key: string]: unknown
}

export interface Tui {
  pid: number
  /** Socket of the tmux server that runs only this client. */
  socket: string
  /** The pane's id, `%0`. */
  pane: string
  /** Types text as on a keyboard, without Enter. */
  type(text: string): Promise<void>
  /** Pastes the text as one prompt and presses Enter. */
  submit(text: string): Promise<void>
  /** Presses a key by its tmux name: `Enter`, `Escape`, `C-c`. */
  key(name: string): Promise<void>
  /**
   * Closes an open dialog with Escape. The client ignores keys for a moment after it shows a
   * dialog, and a second Escape could end the following turn. So in a permission dialog Down is
   * pressed until the choice moves, and any other dialog gets Escape again only while the screen is
   * unchanged.
   */
  dismissDialog(): Promise<void>
  screen(history?: boolean): Promise<string>
  waitFor(wanted: RegExp | ((screen: string) => boolean)): Promise<string>
  /** Waits until the client reports that it is idle after the last `submit`, if there was one. */
  waitIdle(): Promise<void>
  /** Waits until a turn that began after `since` has ended, even if `submit` did not start it. */
  waitTurnEnd(since: number): Promise<void>
  waitStatus(status: Registry['status']): Promise<Registry>
  /** Null when the client has exited, or has not written its registry entry yet. */
  registry(): Registry | null
  sessionId(): string | null
  /** Ends the client with `/exit`, so that it runs its own end-of-session work. */
  exit(): Promise<void>
  /** Ends the tmux server and the client. */
  kill(): Promise<void>
}

let servers = 0
/** Matches a permission dialog with its first answer selected. */
const FIRST_CHOICE = /❯ 1\. /

/** Starts the real client in a tmux server of its own and waits for its prompt. */
export async function startTui(home: Home, options: TuiOptions = {}): Promise<Tui> {
  const socket = path.join(home.dir, `tmux-${++servers}`)
  const config = path.join(home.dir, 'tmux.conf')
  writeFileSync(
    config,
    'set -g default-terminal xterm-256color\nset -g history-limit 5000\nset -s escape-time 0\nset -g status off\n',
  )
  // tmux passes its own environment to its programs, so it gets none of the test's variables.
  const env = { ...home.env, ...options.env }
  const tmux = async (...args: string[]): Promise<string> =>
    (
      await exec('tmux', ['-S', socket, '-f', config, ...args], {
        env,
        timeout: PATIENCE_MS,
        maxBuffer: 16 * 1024 * 1024,
      })
    ).stdout
  const size = ['-x', String(options.cols ?? 120), '-y', String(options.rows ?? 40)]
  const command = [
    clientBinary(),
    ...(options.model ? ['--model', options.model] : []),
    ...(options.bypass === false ? [] : ['--dangerously-skip-permissions']),
    ...(options.args ?? []),
  ]
  await tmux('new-session', '-d', '-s', 'test', ...size, '-c', options.cwd ?? home.project, ...command)
  const [pid, pane] = (await tmux('display-message', '-p', '#{pane_pid} #{pane_id}')).trim().split(' ') as [
    string,
    string,
  ]
  const tui = control(home, tmux, socket, Number(pid), pane)
  home.onDispose(() => tui.kill())
  await tui.waitStatus('idle')
  await tui.waitFor(/❯/)
  return tui
}

function control(
  home: Home,
  tmux: (...args: string[]) => Promise<string>,
  socket: string,
  pid: number,
  pane: string,
): Tui {
  const registryFile = path.join(home.configDir, 'sessions', `${pid}.json`)
  let submittedAt = 0
  let submittedIn: string | null = null
  const registry = (): Registry | null => {
    try {
      return JSON.parse(readFileSync(registryFile, 'utf8'))
    } catch {
      return null
    }
  }
  const screen = (history = false): Promise<string> =>
    tmux('capture-pane', '-p', '-J', '-t', pane, ...(history ? ['-S', '-5000'] : []))
  const waitStatus = (wanted: Registry['status'], fits: (now: Registry) => boolean = () => true): Promise<Registry> =>
    until(
      () => `the client is ${wanted}, it says ${JSON.stringify(registry())}`,
      () => {
        const now = registry()
        return now?.status === wanted && fits(now) ? now : null
      },
    )
  // A turn under 0.1 s never shows as busy in the registry, so the transcript is read for its end.
  const ended = (now: Registry): boolean =>
    submittedIn !== now.sessionId ||
    now.statusUpdatedAt >= submittedAt ||
    turnEndedSince(home, now.sessionId, submittedAt)
  const key = async (name: string): Promise<void> => void (await tmux('send-keys', '-t', pane, name))

  const tui: Tui = {
    pid,
    socket,
    pane,
    registry,
    screen,
    key,
    dismissDialog: async () => {
      await until('the dialog takes keys', async () => {
        const isFirstChosen = FIRST_CHOICE.test(await screen())
        if (isFirstChosen) await key('Down')
        return !isFirstChosen
      })
      let before = ''
      await until(
        'the dialog is closed',
        async () => {
          if (registry()?.status !== 'waiting') return true
          const now = await screen()
          if (before === '' || now === before) await key('Escape')
          before = now
          return false
        },
        { every: 2_000 },
      )
    },
    type: async (text) => void (await tmux('send-keys', '-t', pane, '-l', text)),
    submit: async (text) => {
      const file = path.join(home.dir, 'paste.txt')
      writeFileSync(file, text)
      submittedAt = Date.now()
      submittedIn = registry()?.sessionId ?? null
      await tmux('load-buffer', '-b', 'prompt', file)
      await tmux('paste-buffer', '-p', '-d', '-b', 'prompt', '-t', pane)
      await key('Enter')
    },
    waitFor: async (wanted) => {
      let last = ''
      const fits = typeof wanted === 'function' ? wanted : (text: string) => wanted.test(text)
      return until(
        () => `the screen shows ${wanted}, it shows\n${last}`,
        async () => {
          last = await screen()
          return fits(last) ? last : null
        },
        { every: 50 },
      )
    },
    waitStatus: (wanted) => waitStatus(wanted),
    waitIdle: async () => void (await waitStatus('idle', ended)),
    waitTurnEnd: async (since) =>
      void (await waitStatus('idle', ({ sessionId }) => turnEndedSince(home, sessionId, since))),
    sessionId: () => registry()?.sessionId ?? null,
    exit: async () => {
      await tui.submit('/exit')
      await until('the client ends', () => !alive(pid))
      await tui.kill()
    },
    kill: async () => {
      await tmux('kill-server').catch(() => {})
      if (alive(pid)) await end(pid)
    },
  }
  return tui
}

function turnEndedSince(home: Home, sessionId: string, time: number): boolean {
  const lines = (home.transcript(sessionId) ?? '').slice(-200_000).split('\n')
  return lines.some((line) => {
    if (!/"subtype":"(turn_duration|compact_boundary)"/.test(line)) return false
    const at = /"timestamp":"([^"]+)"/.exec(line)
    return at !== null && Date.parse(at[1]!) >= time
  })
}
