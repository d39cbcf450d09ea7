import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readIfThere, writeFileAtomic } from '../../lib/atomic-file.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import type { Call, Cli } from '../command.js'
import { findProgram } from '../find-program.js'
import { passingPlace } from '../launcher-for.js'
import { tilde } from '../render/paths.js'
import { checkDoors } from './doors.js'
import { MARK, planUnit, type Unit } from './plan-unit.js'
import { PORT, portFrom } from './port.js'
import { runningServer } from './running-server.js'

const PATIENCE_MS = 20_000

interface Step {
  command: string
  ok: boolean
  reason: string | null
}

/** Has the system start the server whenever the person logs in. */
export async function installUnit(call: Call, cli: Cli): Promise<number> {
  const args = wanted(call, cli)
  const unit = unitFor(cli, args)
  const before = ownUnit(unit)
  const action = before === null ? 'created' : before === unit.text ? 'unchanged' : 'updated'
  const steps = action === 'updated' ? unit.restart : unit.start
  if (call.flag('dry-run')) return tell(call, cli, unit, action, steps.map(planned))
  const passing = passingPlace(cli.program)
  if (passing) cli.note(passing)
  if (action !== 'unchanged') {
    mkdirSync(dirname(unit.path), { recursive: true })
    writeFileAtomic(unit.path, unit.text, { mode: 0o644 })
  }
  const other = action === 'created' ? runningServer(batonHome(cli.env)) : null
  const done = await runAll(steps, cli)
  const failed = done.find(({ ok }) => !ok)
  if (other) cli.note(`Another server has this home (process ${other.pid}): end it, then ${unit.start.at(-1)!.join(' ')}.`)
  if (failed) throw unfinished(unit, action, done, failed, 'It is written, but the system was not told to start it')
  return tell(call, cli, unit, action, done)
}

/** Takes back what `installUnit` did; what it did not write it leaves alone. */
export async function removeUnit(call: Call, cli: Cli): Promise<number> {
  for (const name of ['port', 'host', 'token-file'])
    if (call.value(name) !== null)
      throw new BatonError(`baton serve remove has no option --${name}.`, 'See baton serve --help.', EXIT.usage)
  const unit = unitFor(cli, [])
  const action = ownUnit(unit) === null ? 'unchanged' : 'removed'
  if (action === 'unchanged') return tell(call, cli, unit, action, [])
  if (call.flag('dry-run')) return tell(call, cli, unit, action, [...unit.stop, ...unit.forget].map(planned))
  const stopped = await runAll(unit.stop, cli)
  rmSync(unit.path, { force: true })
  const done = [...stopped, ...(await runAll(unit.forget, cli))]
  const failed = done.find(({ ok }) => !ok)
  if (failed) throw unfinished(unit, action, done, failed, 'It is removed, but the system was not told')
  return tell(call, cli, unit, action, done)
}

/** Where Baton's own unit lies; null: the system starts no server of this home by itself. */
export function unitHere(cli: Cli): string | null {
  const { path } = unitFor(cli, [])
  return readIfThere(path)?.toString('utf8').includes(MARK) ? path : null
}

function wanted(call: Call, cli: Cli): string[] {
  const [port, host, file] = [call.value('port'), call.value('host'), call.value('token-file')]
  if (port !== null) portFrom(port, cli.env, PORT)
  const token = file === null ? null : resolve(cli.cwd, file)
  checkDoors(host ?? '127.0.0.1', token, cli)
  return [
    ...(port === null ? [] : ['--port', port]),
    ...(host === null ? [] : ['--host', host]),
    ...(token === null ? [] : ['--token-file', token]),
  ]
}

function unitFor(cli: Cli, args: readonly string[]): Unit {
  return planUnit({
    ...{ platform: process.platform, env: cli.env, user: cli.env.HOME || homedir(), uid: process.getuid?.() ?? 0 },
    call: [process.execPath, join(cli.program, 'baton.mjs'), 'serve', ...args],
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

async function runAll(commands: Unit['start'], cli: Cli): Promise<Step[]> {
  const steps: Step[] = []
  for (const words of commands) steps.push(await runOne(words, cli))
  return steps
}

function runOne([name, ...args]: readonly [string, ...string[]], { env }: Cli): Promise<Step> {
  const command = [name, ...args].join(' ')
  const program = findProgram(name, env)
  if (program === null) return Promise.resolve({ command, ok: false, reason: `${name} was not found` })
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: PATIENCE_MS }, (error, _, stderr) => {
      // What went wrong is said last, after what was done.
      const said = stderr.trim().split('\n').at(-1) ?? ''
      resolve({ command, ok: error === null, reason: error === null ? null : said || error.message })
    })
  })
}

const planned = (words: readonly string[]): Step => ({ command: words.join(' '), ok: true, reason: null })

function unfinished(unit: Unit, action: string, steps: Step[], failed: Step, what: string): BatonError {
  return new BatonError(
    `${unit.path}: ${what} (${failed.command}: ${failed.reason}).`,
    action === 'removed'
      ? `It will not start again. A server that still runs is ended by hand: baton doctor names its process.`
      : `Run it again where your user session has a service manager, or by hand: ${failed.command}. Until then: baton serve.`,
    EXIT.failed,
    { changed: action !== 'unchanged', files: [{ path: unit.path, action, backup: null }], steps },
  )
}

function tell(call: Call, cli: Cli, unit: Unit, action: string, steps: Step[]): number {
  const dry = call.flag('dry-run')
  const files = [{ path: unit.path, action, backup: null }]
  if (call.json) {
    cli.print(JSON.stringify({ changed: !dry && action !== 'unchanged', dry_run: dry, files, steps }))
    return EXIT.done
  }
  const path = tilde(unit.path, cli.env.HOME)
  if (steps.length === 0) cli.print(`There is nothing to remove: ${path} is not there.`)
  else if (dry) cli.print([`Would be ${action}: ${path}`, ...steps.map(({ command }) => `Would run: ${command}`)].join('\n'))
  else if (action === 'removed') cli.print(`The server no longer starts by itself: ${path} is gone.`)
  else
    cli.print(
      `The server runs now, and whenever you log in: ${path}\nbaton open shows its page; baton serve remove takes this back.`,
    )
  return EXIT.done
}
