import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { agentClients } from '../agents/clients.js'
import { readIfThere, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import { batonHome } from '../lib/home.js'
import type { ProgramContext } from '../lib/program-context.js'
import { quoteForShell } from '../lib/shell-words.js'
import { missingFolders, rememberFolders } from './made-folders.js'

/** Text that marks a file as Baton's own. A file without it is never replaced or removed. */
export const UNIT_MARK = 'Written by baton serve install; baton serve remove takes it away.'

type Env = Record<string, string | undefined>

export interface UnitOptions {
  platform: NodeJS.Platform
  env: Env
  /** The user's home folder, and the user id. */
  user: string
  uid: number
  /** The program and its arguments. */
  call: readonly string[]
}

interface Unit {
  name: string
  path: string
  text: string
  /**
   * Commands for the service manager after the file was created, changed, or before it is removed.
   */
  start: readonly (readonly [string, ...string[]])[]
  restart: readonly (readonly [string, ...string[]])[]
  stop: readonly (readonly [string, ...string[]])[]
  /** Command that prints the process id of the service's server, alone or after `pid = `. */
  mainPid: readonly [string, ...string[]]
  /** Commands after the file was removed. */
  forget: readonly (readonly [string, ...string[]])[]
}

/** Variables that a server needs from the shell that installed it. Its jobs use its PATH. */
const KEPT = [
  'BATON_HOME',
  'BATON_PORT',
  'BATON_LOG',
  'XDG_DATA_HOME',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  ...Object.values(agentClients).flatMap(({ places }) => places),
]

/**
 * Returns the service definition that starts the server at login. Each Baton home has its own unit.
 */
export function planUnit(options: UnitOptions): Unit {
  return options.platform === 'darwin' ? agentPlan(options) : systemdPlan(options)
}

function systemdPlan({ env, user, call }: UnitOptions): Unit {
  const name = `baton${suffix(env)}.service`
  const ctl = (...args: string[]) => ['systemctl', '--user', ...args] as [string, ...string[]]
  const text = `# ${UNIT_MARK}
[Unit]
Description=Baton: the server for hooks and the page

[Service]
ExecStart=${call.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
${kept(env)
  .map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`)
  .join('\n')}
Restart=on-failure
RestartSec=2
# A retry cannot fix a wrong configuration (2) or a second server for the same home (4).
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
<!-- ${UNIT_MARK} -->
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

/** Quotes a word for systemd. A dollar sign starts a variable only in a command. */
const quoted = (word: string): string =>
  `"${word.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/%/g, '%%').replace(/\n/g, '\\n')}"`

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

const PATIENCE_MS = 20_000

/** A command of the system's service manager and its result. */
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
 * Makes the system start the server whenever the user logs in.
 * `beforeStart` is called after the write, with the command that starts the server by hand.
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
      // `systemctl enable` creates this folder.
      ...missingFolders(join(dirname(unit.path), 'default.target.wants')),
    ])
    mkdirSync(dirname(unit.path), { recursive: true })
    writeFileAtomic(unit.path, unit.text, { mode: 0o644 })
  }
  beforeStart(action, unit.start.at(-1)!.join(' '))
  const done = await runAll(steps, program)
  return finished(
    { path: unit.path, action, steps: done },
    'the file was written, but the service manager did not start the server',
  )
}

/** Reverts `installUnit`. Leaves files alone that it did not write. */
export async function removeUnit(program: UnitProgram, { dryRun }: { dryRun: boolean }): Promise<UnitChange> {
  const unit = unitFor(program, [])
  const { path } = unit
  if (ownUnit(unit) === null) return { path, action: 'unchanged', steps: [] }
  if (dryRun) return { path, action: 'removed', steps: [...unit.stop, ...unit.forget].map(planned) }
  const steps = await stopAndRemove(unit, program)
  return finished({ path, action: 'removed', steps }, 'the file was removed, but the service manager was not updated')
}

async function stopAndRemove(unit: Unit, program: UnitProgram): Promise<UnitStep[]> {
  const stopped = await runAll(unit.stop, program)
  rmSync(unit.path, { force: true })
  return [...stopped, ...(await runAll(unit.forget, program))]
}

/**
 * Stops and removes Baton's own unit.
 * Returns the first system command that failed.
 * Null when all commands succeeded.
 */
export async function stopAndRemoveUnit(
  program: UnitProgram,
): Promise<{ command: string; reason: string | null } | null> {
  return (await stopAndRemove(unitFor(program, []), program)).find(({ ok }) => !ok) ?? null
}

/**
 * Returns the process id of the server started by the system.
 * Null when the service does not run, or the system does not report it.
 */
export async function servicePid(program: UnitProgram): Promise<number | null> {
  const { ok, stdout } = await runOne(unitFor(program, []).mainPid, program)
  // systemd prints 0 for a service that does not run.
  return (ok && Number(/^(?:\s*pid = )?(\d+)$/m.exec(stdout)?.[1])) || null
}

/** Returns the path of Baton's own unit. Null when the system starts no server for this home. */
export function ownUnitPath(program: UnitProgram): string | null {
  const { path } = unitFor(program, [])
  return readIfThere(path)?.toString('utf8').includes(UNIT_MARK) ? path : null
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

/** Reads Baton's systemd unit file. Null when missing. Throws when it lacks Baton's mark. */
function ownUnit({ path }: Unit): string | null {
  const text = readIfThere(path)?.toString('utf8') ?? null
  if (text === null || text.includes(UNIT_MARK)) return text
  throw new BatonError(
    `${path} was not written by Baton, so it stays unchanged.`,
    `To let Baton write its own, run mv ${quoteForShell(path)} ${quoteForShell(`${path}.old`)} and try again.`,
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
      // Programs print the reason of a failure in the last line.
      const said = stderr.trim().split('\n').at(-1) ?? ''
      resolve({ command, ok: error === null, reason: error === null ? null : said || error.message, stdout })
    })
  })
}

const planned = (words: readonly string[]): UnitStep => ({ command: words.join(' '), ok: true, reason: null })

/** Throws an error with the user's next step when a system command failed. */
function finished(change: UnitChange, what: string): UnitChange {
  const failed = change.steps.find(({ ok }) => !ok)
  if (!failed) return change
  const { path, action, steps } = change
  throw new BatonError(
    `${path}: ${what} (${failed.command}: ${failed.reason}).`,
    action === 'removed'
      ? 'The server will not start again. If one still runs, stop it: baton doctor shows its process.'
      : `Run ${failed.command} in a session with a service manager. Until then, run baton serve.`,
    EXIT.failed,
    { changed: action !== 'unchanged', files: [{ path, action, backup: null }], steps },
  )
}
