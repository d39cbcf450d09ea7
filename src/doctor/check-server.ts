import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { Sample } from '../agents/installer.js'
import { installers } from '../agents/installers.js'
import { hookCommand, statusLineCommand } from '../agents/shared/launcher-call.js'
import { keyOf, lookAtLauncher } from '../install/look.js'
import { type AnnouncedServer, proveServer, readAnnouncement, type Unproven } from '../lib/announced-server.js'
import { readIfThere, removeFileIf } from '../lib/atomic-file.js'
import { reasonOf } from '../lib/errors.js'
import { agoText, type Finding, fixHint, noFaults, oneFault } from '../lib/finding.js'
import { patience } from '../lib/patience.js'
import { isServerLocked, lockServer } from '../store/server-lock.js'
import { lastError, tailOf } from './check-home.js'
import { installedParts } from './check-machine.js'
import { type DoctorContext, type Env, openForCheck } from './context.js'
import { awaitEngine, inTemporaryHome, run } from './isolated-run.js'
import { recognise, targetsOf } from './targets.js'

const PORT = 8420
const ALONE = 'None runs; none is needed.'

/**
 * A server only makes hooks faster. What must not be: hooks that ask one which is gone, is not
 * ours, or cannot keep up.
 */
export async function checkServer(context: DoctorContext): Promise<Finding> {
  const { home, env } = context
  const bytes = readIfThere(home.server)
  const isServed = isServerLocked(home.server)
  if (bytes === null) {
    if (isServed) return noFaults('A server runs on an address that hooks do not use; they work without it.')
    return noFaults(`${ALONE}${await othersOn(Number(env.BATON_PORT) || PORT)}`)
  }
  if (!isServed) {
    const withdraw = (): void => whileNotServed(home.server, () => removeFileIf(home.server, bytes))
    return oneFault(`${home.server} names a server that is gone.`, fixHint('removes it'), withdraw)
  }
  const announced = readAnnouncement(home.server)
  if (announced === null)
    return oneFault(
      `${home.server} is not what this version writes; hooks go without the server.`,
      'End the server and start baton serve again.',
    )
  const connection = await proveServer(announced, patience(PATIENCE_MS))
  if (typeof connection === 'string') return oneFault(...explainUnproven(announced, connection))
  const answer = await askPort({ socket: connection, token: announced.token })
  const judged = judgeServer(announced, answer, context.version)
  if (judged.faults.length > 0) return judged
  if (!lookAtLauncher(home.launcher)) return judgeSlow(context, judged.summary)
  const ms = await askThroughLauncher(context, bytes)
  if (ms === null)
    return oneFault(
      `The launcher does not reach the server on port ${announced.port}, so hooks go without it.`,
      'Run baton install with another bash first on the PATH: this one may be built without /dev/tcp.',
    )
  return judgeSlow(context, `${judged.summary} Hooks reach it in ${ms} ms.`)
}

function explainUnproven(
  { port, pid }: Pick<AnnouncedServer, 'port' | 'pid'>,
  why: Unproven,
): [detail: string, fix: string] {
  const restart = `End process ${pid} and start baton serve again.`
  switch (why) {
    case 'nobody':
      return [
        `The server (process ${pid}) does not listen on port ${port} of this network; hooks go without it.`,
        restart,
      ]
    case 'stranger':
      return [
        `On port ${port}, where hooks look for the server, another program answers; hooks go without it.`,
        restart,
      ]
    case 'silent':
      return [
        `The server on port ${port} (process ${pid}) does not answer; hooks go without it, a second later.`,
        restart,
      ]
  }
}

function judgeServer({ port, pid }: Pick<AnnouncedServer, 'port' | 'pid'>, answer: Answer, own: string): Finding {
  const restart = `End process ${pid} and start baton serve again.`
  if (answer.kind !== 'baton') return oneFault(...explainUnproven({ port, pid }, 'silent'))
  if (answer.version !== own) return oneFault(`The server is version ${answer.version}, this is ${own}.`, restart)
  return noFaults(`http://127.0.0.1:${port}, version ${answer.version}, process ${pid}, answers in ${answer.ms} ms.`)
}

/** The mark a hook leaves when the server kept it waiting: others go without it for a minute. */
function judgeSlow({ home, now }: DoctorContext, told: string): Finding {
  const path = join(dirname(home.server), 'slow')
  const bytes = readIfThere(path)
  const left = Number(bytes?.toString().trim()) * 1000 - now().getTime()
  if (bytes === null || !(left > 0)) return noFaults(told)
  return oneFault(
    `The server kept a hook waiting; hooks go without it for another ${agoText(left)}.`,
    fixHint('lets hooks ask it again, for it answers now'),
    () => removeFileIf(path, bytes),
  )
}

async function othersOn(port: number): Promise<string> {
  const { kind } = await askPort({ port })
  if (kind === 'nobody') return ''
  return ` Port ${port} is in use by ${kind === 'other-home' ? 'the server of another home' : 'another program'}: baton serve would need --port.`
}

const PATIENCE_MS = 1_500

/**
 * The program that answers on a port of this machine. `other-home`: a Baton that does not know our
 * token.
 */
type Answer =
  | { kind: 'nobody' }
  | { kind: 'silent' }
  | { kind: 'stranger' }
  | { kind: 'other-home' }
  | { kind: 'baton'; version: string; pid: number; ms: number }

/**
 * Asks with the token which server it is, over a connection whose other end has proven to be the
 * server; by a port alone only whether a Baton listens there.
 */
function askPort(at: { port: number } | { socket: Socket; token: string }): Promise<Answer> {
  const began = performance.now()
  return new Promise((resolve) => {
    const headers = { Connection: 'close', ...('token' in at ? { Authorization: `Bearer ${at.token}` } : {}) }
    const way =
      'socket' in at ? { createConnection: () => at.socket, path: '/api/access' } : { port: at.port, path: '/health' }
    const asked = request({ host: '127.0.0.1', ...way, headers, timeout: patience(PATIENCE_MS) }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > 10_000) asked.destroy()
      })
      response.on('error', () => resolve({ kind: 'stranger' }))
      const isBaton = response.headers['x-baton'] === '1'
      response.on('close', () =>
        resolve(isBaton ? readAccess(text, Math.round(performance.now() - began)) : { kind: 'stranger' }),
      )
    })
    asked.on('timeout', () => {
      resolve({ kind: 'silent' })
      asked.destroy()
    })
    asked.on('error', (error) =>
      resolve({ kind: 'code' in error && error.code === 'ECONNREFUSED' ? 'nobody' : 'stranger' }),
    )
    asked.end()
  })
}

function readAccess(text: string, ms: number): Answer {
  try {
    const { version, pid } = JSON.parse(text) as Record<string, unknown>
    if (typeof version === 'string' && typeof pid === 'number') return { kind: 'baton', version, pid, ms }
  } catch {}
  return { kind: 'other-home' }
}

/**
 * The way hooks go: the launcher with a signal that is none, which the server refuses and forgets. Where it finds no server it
 * keeps the signal in its home, which is one made for this. Milliseconds; null: it did not reach the server.
 */
function askThroughLauncher({ agent, home, env }: DoctorContext, announced: Buffer): Promise<number | null> {
  return inTemporaryHome(env, async (trial, trialEnv) => {
    mkdirSync(join(trial, 'run'), { mode: 0o700 })
    writeFileSync(join(trial, 'run', 'server'), announced, { mode: 0o600 })
    symlinkSync(join(dirname(home.server), 'alive'), join(trial, 'run', 'alive'))
    const { ms } = await run(hookCommand(home.launcher, installers[agent]!.startEvent), '{}', trialEnv, trial)
    return readdirSync(trial).includes('spool') ? null : ms
  })
}

const MEND = 'Mend what the other checks name; if they name nothing, the log says more.'

/**
 * The proof: the commands of the client's settings are run as the client runs them, the installed launcher and engine do their
 * work, and a reading is looked for in the store. Only the home is another one, made for this and removed, so that no session
 * appears that never was.
 */
export async function checkSignal(context: DoctorContext): Promise<Finding> {
  if (!lookAtLauncher(context.home.launcher))
    return oneFault('No signal arrives: there is no launcher to send one.', MEND)
  return inTemporaryHome(context.env, (home, env) =>
    send(context, home, env, installers[context.agent]!.sample(home, crypto.randomUUID())),
  )
}

async function send(context: DoctorContext, home: string, env: Env, sample: Sample): Promise<Finding> {
  const commands = commandsOf(context)
  const began = performance.now()
  const start = await run(commands.hook, sample.sessionStart, env, home)
  if (start.code !== 0)
    return oneFault(`The hook's command ends with ${start.code ?? 'no code'} instead of 0: ${commands.hook}`, MEND)
  await awaitEngine(home)
  const stored = Math.round(performance.now() - began)
  const line = await run(commands.line, sample.statusLine, env, home)
  const missing = look(env, sample)
  if (missing)
    return oneFault(`No signal arrives: ${missing}. ${await reason(context, home, sample, env)}`.trim(), MEND)
  if (line.stdout.trim() === '') return oneFault('A signal arrives, but the status line shows nothing.', MEND)
  return noFaults(
    `A signal arrives: hook answered in ${start.ms} ms and in the store after ${stored} ms, status line in ${line.ms} ms.`,
  )
}

/** The commands the settings hold; where they hold none, those that install would write: what is wrong there has its own check. */
function commandsOf(context: DoctorContext): { hook: string; line: string } {
  const by = recognise(context)
  const installer = installers[context.agent]!
  const { launcher } = context.home
  const commands = {
    hook: hookCommand(launcher, installer.startEvent),
    line: statusLineCommand(launcher, keyOf(launcher), null),
  }
  for (const { path } of targetsOf(context)) {
    try {
      const text = readIfThere(path)?.toString() ?? ''
      const { hook, line } = installer.commandsIn(text, by)
      if (hook !== null) commands.hook = hook
      if (line !== null) commands.line = line
      if (hook !== null) return commands
    } catch {}
  }
  return commands
}

/** Runs `work` while holding the lock of this home's server. Throws when a server runs. */
function whileNotServed(serverFile: string, work: () => void): void {
  const lock = lockServer(serverFile)
  if (lock === null) throw new Error('a server of this home has started meanwhile')
  try {
    work()
  } finally {
    lock.release()
  }
}

/** What did not arrive; null: all of it did. */
function look(env: Env, sample: Sample): string | null {
  if (!existsSync(join(env.BATON_HOME!, 'baton.db'))) return 'the engine made no store'
  try {
    const app = openForCheck(env)
    try {
      const record = app.store.session(sample.sessionId)
      if (!record) return 'the session is not in the store'
      return record.track.used === sample.used ? null : 'its reading is not in the store'
    } finally {
      app.close()
    }
  } catch (error) {
    return reasonOf(error)
  }
}

/** Hooks are silent whatever happens to them; so the engine is asked once more, aloud. */
async function reason(context: DoctorContext, home: string, sample: Sample, env: Env): Promise<string> {
  const log = join(home, 'baton.log')
  const logged = existsSync(log) ? lastError(tailOf(log), new Date()) : null
  if (logged) return logged
  const parts = installedParts(context)
  if (!parts || !existsSync(parts.engine)) return 'The engine is missing.'
  const words = [parts.node, parts.engine, 'status-line'].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const { stderr } = await run(`exec ${words.join(' ')}`, sample.statusLine, env, home)
  const said = stderr.split('\n').find((one) => /error|cannot|not found/i.test(one))
  return said ? `The engine says: ${said.trim().slice(0, 300)}` : ''
}
