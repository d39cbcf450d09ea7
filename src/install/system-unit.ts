import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { clients } from '../agents/clients.js'
import { readIfThere, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import { batonHome } from '../lib/home.js'
import type { ProgramContext } from '../lib/program-context.js'
import { missingFolders, rememberFolders } from './made-folders.js'

/** The mark of a file that is Baton's own: no other is ever replaced or removed. */
export const MARK = 'Written by baton serve install; baton serve remove takes it away.'

type Env = Record<string, string | undefined>

export interface UnitOptions {
  platform: NodeJS.Platform
  env: Env
  /** The person's home folder, and their number. */
  user: string
  uid: number
  /** The program and what it is called with. */
  call: readonly string[]
}

interface Unit {
  name: string
  path: string
  text: string
  /** What the system is told when it is there, changed, or to be gone. */
  start: readonly (readonly [string, ...string[]])[]
  restart: readonly (readonly [string, ...string[]])[]
  stop: readonly (readonly [string, ...string[]])[]
  /** Prints the process id of the service's server, alone or after `pid = `. */
  mainPid: readonly [string, ...string[]]
  /** After the file is gone. */
  forget: readonly (readonly [string, ...string[]])[]
}

/** What a server needs of the shell it was installed from: where things are, and what its jobs find on their PATH. */
const KEPT = [
  'BATON_HOME',
  'BATON_PORT',
  'BATON_LOG',
  'XDG_DATA_HOME',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  ...Object.values(clients).flatMap(({ places }) => places),
]

/** How the system starts the server when the person logs in. A home of its own has a unit of its own. */
export function planUnit(options: UnitOptions): Unit {
  return options.platform === 'darwin' ? agentPlan(options) : systemdPlan(options)
}

function systemdPlan({ env, user, call }: UnitOptions): Unit {
  const name = `baton${suffix(env)}.service`
  const ctl = (...args: string[]) => ['systemctl', '--user', ...args] as [string, ...string[]]
  const text = `# ${MARK}
[Unit]
Description=Baton: the server for hooks and the page

[Service]
ExecStart=${call.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
${kept(env)
  .map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`)
  .join('\n')}
Restart=on-failure
RestartSec=2
# A wrong configuration, or another server for the same home: trying again would not help.
RestartPreventExitStatus=2 4

[Install]
WantedBy=default.target
`
  return {
    name,
    path: join(env.XDG_CONFIG_HOME || join(user, '.config'), 'systemd', 'user', name),
    text,
    start: [ctl('daemon-reload'), ctl('enable', '--now', name)],
    restart: [ctl('daemon-reload'), ctl('enable', name), ctl('restart', name)],
    stop: [ctl('disable', '--now', name)],
    mainPid: ctl('show', '--property', 'MainPID', '--value', name),
    forget: [ctl('daemon-reload')],
  }
}

function agentPlan({ env, user, uid, call }: UnitOptions): Unit {
  const name = `dev.baton.server${suffix(env)}`
  const path = join(user, 'Library', 'LaunchAgents', `${name}.plist`)
  const list = (items: readonly string[]) => items.map((item) => `    <string>${escaped(item)}</string>`).join('\n')
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${MARK} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${name}</string>
  <key>ProgramArguments</key>
  <array>
${list(call)}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${kept(env)
  .map(([key, value]) => `    <key>${key}</key><string>${escaped(value)}</string>`)
  .join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
</dict>
</plist>
`
  const stop = [['launchctl', 'bootout', `gui/${uid}/${name}`]] as [string, ...string[]][]
  const start = [['launchctl', 'bootstrap', `gui/${uid}`, path]] as [string, ...string[]][]
  const mainPid = ['launchctl', 'print', `gui/${uid}/${name}`] as [string, ...string[]]
  return { name, path, text, start, restart: [...stop, ...start], stop, mainPid, forget: [] }
}

const kept = (env: Env): [string, string][] =>
  [...KEPT, 'PATH'].flatMap((key) => (env[key] ? [[key, env[key]] as [string, string]] : []))

const suffix = ({ BATON_HOME: own }: Env): string =>
  own ? `-${createHash('sha256').update(own).digest('hex').slice(0, 8)}` : ''

/** As systemd reads words. A dollar begins a variable only in a command. */
const quoted = (word: string): string =>
  `"${word.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/%/g, '%%').replace(/\n/g, '\\n')}"`

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

const PATIENCE_MS = 20_000

/** A command of the system's service manager, and its result. */
interface UnitStep {
  command: string
  ok: boolean
  reason: string | null
}

export interface UnitChange {
  path: string
  action: 'created' | 'updated' | 'unchanged' | 'removed'
  steps: UnitStep[]
}

type UnitProgram = Pick<ProgramContext, 'env' | 'program'>

/**
 * Has the system start the server whenever the user logs in. `beforeStart` is called when the file
 * is written, with the command that starts the server by hand.
 */
export async function installUnit(
  program: UnitProgram,
  args: readonly string[],
  { dryRun, beforeStart }: { dryRun: boolean; beforeStart(action: UnitChange['action'], start: string): void },
): Promise<UnitChange> {
  const unit = unitFor(program, args)
  const before = ownUnit(unit)
  const action = before === null ? 'created' : before === unit.text ? 'unchanged' : 'updated'
  const steps = action === 'updated' ? unit.restart : unit.start
  if (dryRun) return { path: unit.path, action, steps: steps.map(planned) }
  if (action !== 'unchanged') {
    const { root } = batonHome(program.env)
    rememberFolders(root, [
      ...missingFolders(root),
      ...missingFolders(dirname(unit.path)),
      // `systemctl enable` makes it.
      ...missingFolders(join(dirname(unit.path), 'default.target.wants')),
    ])
    mkdirSync(dirname(unit.path), { recursive: true })
    writeFileAtomic(unit.path, unit.text, { mode: 0o644 })
  }
  beforeStart(action, unit.start.at(-1)!.join(' '))
  const done = await runAll(steps, program)
  return finished({ path: unit.path, action, steps: done }, 'It is written, but the system was not told to start it')
}

/** Takes back what `installUnit` did; what it did not write it leaves alone. */
export async function removeUnit(program: UnitProgram, { dryRun }: { dryRun: boolean }): Promise<UnitChange> {
  const unit = unitFor(program, [])
  const { path } = unit
  if (ownUnit(unit) === null) return { path, action: 'unchanged', steps: [] }
  if (dryRun) return { path, action: 'removed', steps: [...unit.stop, ...unit.forget].map(planned) }
  const steps = await stopAndRemove(unit, program)
  return finished({ path, action: 'removed', steps }, 'It is removed, but the system was not told')
}

async function stopAndRemove(unit: Unit, program: UnitProgram): Promise<UnitStep[]> {
  const stopped = await runAll(unit.stop, program)
  rmSync(unit.path, { force: true })
  return [...stopped, ...(await runAll(unit.forget, program))]
}

/**
 * Stops and removes Baton's own unit. Returns the first command of the system that failed; null
 * when all succeeded.
 */
export async function dropUnit(program: UnitProgram): Promise<{ command: string; reason: string | null } | null> {
  return (await stopAndRemove(unitFor(program, []), program)).find(({ ok }) => !ok) ?? null
}

/**
 * Process id of the server that the system has started for Baton's own unit. Null when that service
 * does not run, or the system does not say.
 */
export async function servicePid(program: UnitProgram): Promise<number | null> {
  const { ok, stdout } = await runOne(unitFor(program, []).mainPid, program)
  // systemd prints 0 for a service that does not run.
  return (ok && Number(/^(?:\s*pid = )?(\d+)$/m.exec(stdout)?.[1])) || null
}

/** Where Baton's own unit lies; null: the system starts no server of this home by itself. */
export function unitHere(program: UnitProgram): string | null {
  const { path } = unitFor(program, [])
  return readIfThere(path)?.toString('utf8').includes(MARK) ? path : null
}

function unitFor(program: UnitProgram, args: readonly string[]): Unit {
  return planUnit({
    platform: process.platform,
    env: program.env,
    user: program.env.HOME || homedir(),
    uid: process.getuid?.() ?? 0,
    call: [process.execPath, join(program.program, 'baton.mjs'), 'serve', ...args],
  })
}

/** null: there is none. Throws where somebody else's is. */
function ownUnit({ path }: Unit): string | null {
  const text = readIfThere(path)?.toString('utf8') ?? null
  if (text === null || text.includes(MARK)) return text
  throw new BatonError(
    `${path} is not Baton's: it was left as it is.`,
    'Move it aside if Baton is to write its own there.',
    EXIT.refused,
  )
}

async function runAll(commands: Unit['start'], program: UnitProgram): Promise<UnitStep[]> {
  const steps: UnitStep[] = []
  for (const words of commands) {
    const { stdout: _, ...step } = await runOne(words, program)
    steps.push(step)
  }
  return steps
}

function runOne(
  [name, ...args]: readonly [string, ...string[]],
  { env }: UnitProgram,
): Promise<UnitStep & { stdout: string }> {
  const command = [name, ...args].join(' ')
  const path = findProgram(name, env)
  if (path === null) return Promise.resolve({ command, ok: false, reason: `${name} was not found`, stdout: '' })
  return new Promise((resolve) => {
    execFile(path, args, { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      // What went wrong is said last, after what was done.
      const said = stderr.trim().split('\n').at(-1) ?? ''
      resolve({ command, ok: error === null, reason: error === null ? null : said || error.message, stdout })
    })
  })
}

const planned = (words: readonly string[]): UnitStep => ({ command: words.join(' '), ok: true, reason: null })

/** Throws what the user can do when a command of the system failed. */
function finished(change: UnitChange, what: string): UnitChange {
  const failed = change.steps.find(({ ok }) => !ok)
  if (!failed) return change
  const { path, action, steps } = change
  throw new BatonError(
    `${path}: ${what} (${failed.command}: ${failed.reason}).`,
    action === 'removed'
      ? `It will not start again. A server that still runs is ended by hand: baton doctor names its process.`
      : `Run it again where your user session has a service manager, or by hand: ${failed.command}. Until then: baton serve.`,
    EXIT.failed,
    { changed: action !== 'unchanged', files: [{ path, action, backup: null }], steps },
  )
}
