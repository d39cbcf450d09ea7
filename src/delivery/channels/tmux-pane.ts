import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { patience } from '../../lib/patience.js'

/** One pane of one tmux server. */
export interface PanePlace {
  /** null: the server of the user's own default. */
  socket: string | null
  /** `%7`; stays the same when the pane is moved. */
  pane: string
}

export interface PaneLook {
  /** The process the pane was opened with. */
  pid: number
  /** Copy mode, a menu of tmux: keys do not reach what runs inside. */
  inMode: boolean
  /** Why nothing can be typed into just this pane; null: it can. */
  barred: 'dead' | 'input-off' | 'synchronized' | null
  cursor: { x: number; y: number }
  /** How long the keys of people who have this pane before them have rested at least, in milliseconds; null: nobody's reach it. */
  keysRest: number | null
  /** Whose keys those are and when the last was pressed, as tmux can compare it. */
  keys: { active: number; window: string; pressed: string }
  /** What is on it, with colours; rows as the terminal has them. */
  screen: string
}

const TIMEOUT_MS = 2000
/** In the loop over sessions `window_id` is the window a session shows: keys pressed there go to its active pane. */
const LOOK =
  '#{pane_pid} #{pane_in_mode} #{pane_dead} #{pane_input_off} #{pane_synchronized} #{cursor_x} #{cursor_y} #{pane_active} #{window_id} #{S:#{window_id}=#{session_activity} }'
/** A key that seems to come from later than this was pressed before the clock was set back. */
const CLOCK_MS = 5_000

/** Where a process shows its screen. `pane`: what is already known of it. null: it does not run in tmux. */
export function paneOf(pid: number, pane: string | null): PanePlace | null {
  const server = startedWith(pid, 'TMUX')
  const found = pane ?? startedWith(pid, 'TMUX_PANE')
  if (found === null || !/^%\d+$/.test(found)) return null
  return { socket: server?.split(',', 1)[0] || null, pane: found }
}

/**
 * State and screen in one question, so that they belong together. `lay`: a text that is laid ready to be pasted first. null: there is no
 * such pane, or tmux does not answer.
 */
export async function readPane(place: PanePlace, lay?: { name: string; text: string }): Promise<PaneLook | null> {
  const target = ['-t', place.pane]
  const began = Date.now()
  const laid = lay ? ['load-buffer', '-b', lay.name, '-', ';'] : []
  const run = await tmux(
    place,
    [...laid, 'display-message', '-p', ...target, LOOK, ';', 'capture-pane', '-p', '-e', ...target],
    lay?.text,
  )
  if (run === null) return null
  const end = run.indexOf('\n')
  const told = run.slice(0, end).trim().split(' ')
  const [pid, mode, dead, off, synchronized, x, y, active] = told.map(Number)
  if (!pid || y === undefined) return null
  const [window = '', ...sessions] = told.slice(8)
  const pressed = sessions.flatMap((one) => (one.startsWith(`${window}=`) ? [one.slice(window.length + 1)] : []))
  return {
    pid,
    inMode: mode !== 0,
    barred: dead ? 'dead' : off ? 'input-off' : synchronized ? 'synchronized' : null,
    cursor: { x: x ?? 0, y },
    keysRest: active === 1 ? restOf(pressed.map(Number), began) : null,
    keys: { active: active ?? 0, window, pressed: pressed.map((second) => `${second}.`).join('') },
    screen: run.slice(end + 1),
  }
}

/** tmux tells whole seconds: the key may have been pressed at the end of its second. */
function restOf(seconds: number[], now: number): number | null {
  const past = seconds.map((second) => now - (second + 1) * 1000).filter((ms) => ms > -CLOCK_MS)
  return past.length === 0 ? null : Math.min(...past)
}

export async function dropBuffer(place: PanePlace, name: string): Promise<void> {
  await tmux(place, ['delete-buffer', '-b', name])
}

/** Pastes a laid text as one piece if the pane is still as it was looked at. null: tmux does not answer. */
export function pasteBuffer(place: PanePlace, look: PaneLook, name: string): Promise<boolean | null> {
  return ifUnchanged(place, look, `paste-buffer -p -d -b ${name} -t ${place.pane}`)
}

/** Presses keys if the pane is still as it was looked at. null: tmux does not answer. */
export function pressKeys(
  place: PanePlace,
  look: PaneLook,
  keys: { name: string; times: number }[],
): Promise<boolean | null> {
  const orders = keys
    .filter(({ times }) => times > 0)
    .map(({ name, times }) => `send-keys -t ${place.pane} -N ${times} ${name}`)
  return ifUnchanged(place, look, orders.join(' ; '))
}

/**
 * tmux does one thing after the other: between its own look and the paste no key of the user can pass through it, and a key that passed
 * since our look shows in the second of the last one, if our look was in a later second than that. What a program sent by `send-keys` and
 * the client has not drawn yet is all that can be missed.
 */
async function ifUnchanged(place: PanePlace, look: PaneLook, order: string): Promise<boolean | null> {
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

/** What tmux printed; null: it failed. `-u`: else it replaces every sign the locale does not have. */
async function tmux(place: PanePlace, args: string[], input?: string): Promise<string | null> {
  const server = place.socket === null ? [] : ['-S', place.socket]
  const run = await runBounded('tmux', ['-u', ...server, ...args], {
    timeoutMs: patience(TIMEOUT_MS),
    ...(input === undefined ? {} : { input }),
  })
  return run.code === 0 ? run.stdout : null
}

interface BoundedRun {
  /** null: it could not be started, or was ended. */
  code: number | null
  stdout: string
  stderr: string
  /** True: it took too long, and its whole process group was ended. */
  timedOut: boolean
}

interface BoundedOptions {
  input?: string
  timeoutMs: number
  env?: NodeJS.ProcessEnv
}

const LARGEST_OUTPUT = 4 * 1024 * 1024

/** Runs a program to its end or to the end of its time; throws nothing. */
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
      // whatever holds the pipes open is not waited for
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
    // it ended by itself in the meantime
  }
}

/** Where a process stands among others and on its terminal. */
interface ProcessPlace {
  parent: number
  /** False: stopped, or another process has the keyboard of its terminal. */
  inFront: boolean
}

const MOST_ANCESTORS = 64

/** null: no such process. */
export function placeOf(pid: number): ProcessPlace | null {
  try {
    return platform() === 'linux' ? fromStat(readFileSync(`/proc/${pid}/stat`, 'utf8')) : fromPs(pid)
  } catch {
    return null
  }
}

/** Whether `ancestor` is the process itself or one it descends from. */
export function descends(pid: number, ancestor: number): boolean {
  let at = pid
  for (let i = 0; i < MOST_ANCESTORS && at > 1; i++) {
    if (at === ancestor) return true
    at = placeOf(at)?.parent ?? 0
  }
  return false
}

/** A variable of the environment a process was started with; null: not set, or not to be seen. */
export function startedWith(pid: number, name: string): string | null {
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
  // the name in brackets may hold anything
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
