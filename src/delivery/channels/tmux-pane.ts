import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { scaleTimeout } from '../../lib/patience.js'

/** A pane of a tmux server. */
export interface TmuxPane {
  /** Path of the tmux server's socket. Null for the user's default socket. */
  socket: string | null
  /** Pane id such as `%7`. Stays the same when the pane is moved. */
  pane: string
}

export interface PaneState {
  /** The process with which the pane was opened. */
  pid: number
  /** True in copy mode or a menu of tmux: keys do not reach the program inside. */
  inMode: boolean
  /** The reason why nothing can be typed into exactly this pane. Null when it is possible. */
  barred: 'dead' | 'input-off' | 'synchronized' | null
  cursor: { x: number; y: number }
  /**
   * Minimum time since the last key of any user who sees this pane, in milliseconds.
   * Null when no user's keys reach it.
   */
  keysRest: number | null
  /** Source and time of those keys, in a form that tmux can compare. */
  keys: { active: number; window: string; pressed: string }
  /** Screen content with colours, in rows of the terminal. */
  screen: string
}

const TIMEOUT_MS = 2000
/**
 * Format of the pane's state.
 * `window_id` in the loop is the window that a session shows: its active pane gets the keys.
 */
const LOOK =
  '#{pane_pid} #{pane_in_mode} #{pane_dead} #{pane_input_off} #{pane_synchronized} #{cursor_x} #{cursor_y} ' +
  '#{pane_active} #{window_id} #{S:#{window_id}=#{session_activity} }'
/** A key that is further in the future than this was pressed before the clock was set back. */
const CLOCK_MS = 5_000

/**
 * Returns the pane that shows a process.
 * `pane` is the tmux pane's id if the caller knows it.
 * Null when the process does not run in tmux.
 */
export function paneOf(pid: number, pane: string | null): TmuxPane | null {
  const server = readStartVariable(pid, 'TMUX')
  const found = pane ?? readStartVariable(pid, 'TMUX_PANE')
  if (found === null || !/^%\d+$/.test(found)) return null
  return { socket: server?.split(',', 1)[0] || null, pane: found }
}

/**
 * Reads state and screen in one tmux call, so that they belong together.
 * `lay` is a text that is first loaded into a buffer for pasting.
 * Null when the pane does not exist or tmux does not answer.
 */
export async function readPane(place: TmuxPane, lay?: { name: string; text: string }): Promise<PaneState | null> {
  const target = ['-t', place.pane]
  const startedMs = Date.now()
  const laid = lay ? ['load-buffer', '-b', lay.name, '-', ';'] : []
  const run = await tmux(
    place,
    [...laid, 'display-message', '-p', ...target, LOOK, ';', 'capture-pane', '-p', '-e', ...target],
    lay?.text,
  )
  if (run === null) return null
  const end = run.indexOf('\n')
  const fields = run.slice(0, end).trim().split(' ')
  const [pid, mode, dead, off, synchronized, x, y, active] = fields.map(Number)
  if (!pid || y === undefined) return null
  const [window = '', ...sessions] = fields.slice(8)
  const pressed = sessions.flatMap((one) => (one.startsWith(`${window}=`) ? [one.slice(window.length + 1)] : []))
  return {
    pid,
    inMode: mode !== 0,
    barred: dead ? 'dead' : off ? 'input-off' : synchronized ? 'synchronized' : null,
    cursor: { x: x ?? 0, y },
    keysRest: active === 1 ? restOf(pressed.map(Number), startedMs) : null,
    keys: { active: active ?? 0, window, pressed: pressed.map((second) => `${second}.`).join('') },
    screen: run.slice(end + 1),
  }
}

/**
 * Returns the milliseconds since the last key.
 * tmux reports whole seconds, so the key may have been pressed at the end of its second.
 */
function restOf(seconds: number[], now: number): number | null {
  const past = seconds.map((second) => now - (second + 1) * 1000).filter((ms) => ms > -CLOCK_MS)
  return past.length === 0 ? null : Math.min(...past)
}

export async function dropBuffer(place: TmuxPane, name: string): Promise<void> {
  await tmux(place, ['delete-buffer', '-b', name])
}

/**
 * Pastes a loaded buffer as one piece if the pane is unchanged since `look`.
 * Null when tmux does not answer.
 */
export function pasteBuffer(place: TmuxPane, look: PaneState, name: string): Promise<boolean | null> {
  return ifUnchanged(place, look, `paste-buffer -p -d -b ${name} -t ${place.pane}`)
}

/** Presses keys if the pane is unchanged since `look`. Null when tmux does not answer. */
export function pressKeys(
  place: TmuxPane,
  look: PaneState,
  keys: { name: string; times: number }[],
): Promise<boolean | null> {
  const orders = keys
    .filter(({ times }) => times > 0)
    .map(({ name, times }) => `send-keys -t ${place.pane} -N ${times} ${name}`)
  return ifUnchanged(place, look, orders.join(' ; '))
}

/**
 * Runs a tmux command if the pane is unchanged since `look`.
 * tmux runs its commands in sequence, so no user key arrives between the check and the paste.
 * A key after our read changes the time of the last key, if our read was in a later second.
 * Only keys that a program sent by `send-keys` and the client has not drawn yet can be missed.
 */
async function ifUnchanged(place: TmuxPane, look: PaneState, order: string): Promise<boolean | null> {
  const same = (name: string, value: number): string => `#{==:#{${name}},${value}}`
  const pairs = [
    same('pane_pid', look.pid),
    same('pane_in_mode', 0),
    same('cursor_x', look.cursor.x),
    same('cursor_y', look.cursor.y),
    same('pane_active', look.keys.active),
    ...(look.keys.active === 1 ? [`#{==:${pressedIn(look.keys.window)},${look.keys.pressed}}`] : []),
  ]
  const condition = pairs.reduce((all, one) => `#{&&:${all},${one}}`)
  const run = await tmux(place, [
    'if-shell',
    '-F',
    '-t',
    place.pane,
    condition,
    `${order} ; display-message -p did`,
    'display-message -p not',
  ])
  return run === null ? null : run.trim() === 'did'
}

const pressedIn = (window: string): string => `#{S:#{?#{==:#{window_id},${window}},#{session_activity}.,}}`

/**
 * Runs tmux and returns its output.
 * Null when tmux failed.
 * Without `-u`, tmux replaces every character that the locale lacks.
 */
async function tmux(place: TmuxPane, args: string[], input?: string): Promise<string | null> {
  const server = place.socket === null ? [] : ['-S', place.socket]
  const run = await runBounded('tmux', ['-u', ...server, ...args], {
    timeoutMs: scaleTimeout(TIMEOUT_MS),
    ...(input === undefined ? {} : { input }),
  })
  return run.code === 0 ? run.stdout : null
}

interface BoundedRun {
  /** Exit code. Null when the program could not be started or was killed. */
  code: number | null
  stdout: string
  stderr: string
  /** True when the program took too long and its whole process group was killed. */
  timedOut: boolean
}

interface BoundedOptions {
  input?: string
  timeoutMs: number
  env?: NodeJS.ProcessEnv
}

const LARGEST_OUTPUT = 4 * 1024 * 1024

/** Runs a program until it ends or its time limit is reached. Never throws. */
export function runBounded(program: string, args: string[], options: BoundedOptions): Promise<BoundedRun> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'pipe', env: options.env ?? process.env })
    let [stdout, stderr, timedOut, over] = ['', '', false, false]
    const finish = (code: number | null, trouble = ''): void => {
      if (over) return
      over = true
      clearTimeout(timer)
      for (const stream of child.stdio) stream?.destroy()
      resolve({ code: timedOut ? null : code, stdout, stderr: stderr + trouble, timedOut })
    }
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child.pid)
      // Do not wait for processes that hold the pipes open.
      finish(null)
    }, options.timeoutMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < LARGEST_OUTPUT) stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < LARGEST_OUTPUT) stderr += text
    })
    child.stdin.on('error', () => {})
    child.on('error', (error) => finish(null, error.message))
    child.on('close', (code) => finish(code))
    child.stdin.end(options.input ?? '')
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group ended by itself meanwhile.
  }
}

/** The parent of a process and whether it has the keyboard of its terminal. */
interface ProcessPlace {
  parent: number
  /** False when the process is stopped, or another process has the keyboard of its terminal. */
  inFront: boolean
}

const MOST_ANCESTORS = 64

/** Reads a process. Null when it does not exist. */
export function readProcessPlace(pid: number): ProcessPlace | null {
  try {
    return platform() === 'linux' ? fromStat(readFileSync(`/proc/${pid}/stat`, 'utf8')) : fromPs(pid)
  } catch {
    return null
  }
}

/** Returns whether `ancestor` is the process itself or one of its ancestors. */
export function isDescendantOf(pid: number, ancestor: number): boolean {
  let at = pid
  for (let i = 0; i < MOST_ANCESTORS && at > 1; i++) {
    if (at === ancestor) return true
    at = readProcessPlace(at)?.parent ?? 0
  }
  return false
}

/**
 * Reads a variable from the environment with which a process was started.
 * Null when the variable is not set or not readable.
 */
export function readStartVariable(pid: number, name: string): string | null {
  try {
    const entries =
      platform() === 'linux'
        ? readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
        : ps(pid, 'command=', '-E').split(' ')
    return entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) || null
  } catch {
    return null
  }
}

function fromStat(stat: string): ProcessPlace {
  // The process name in brackets may contain any character, so start after the last bracket.
  const [state, parent, group, , , front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(parent), inFront: state !== 'T' && state !== 'Z' && group === front }
}

function fromPs(pid: number): ProcessPlace {
  const [state, parent, group, front] = ps(pid, 'stat=,ppid=,pgid=,tpgid=').trim().split(/\s+/)
  return { parent: Number(parent), inFront: !/^[TZ]/.test(state ?? 'Z') && group === front }
}

function ps(pid: number, columns: string, ...more: string[]): string {
  const args = [...more, '-ww', '-o', columns, '-p', String(pid)]
  return execFileSync('ps', args, { encoding: 'utf8', timeout: 1000, stdio: ['ignore', 'pipe', 'ignore'] })
}
