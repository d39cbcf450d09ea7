import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { SampleSignals } from '../agents/installer.js'
import { agentInstallers } from '../agents/installers.js'
import { hookCommand, statusLineCommand } from '../agents/shared/launcher-call.js'
import { lookAtLauncher, pathKey } from '../install/look.js'
import { type AnnouncedServer, type ProofFailure, proveServer, readAnnouncement } from '../lib/announced-server.js'
import { readIfThere, removeFileIf } from '../lib/atomic-file.js'
import { reasonOf } from '../lib/errors.js'
import { agoText, type Finding, fixHint, noFaults, oneFault } from '../lib/finding.js'
import { scaleTimeout } from '../lib/patience.js'
import { isServerLocked, lockServer } from '../store/server-lock.js'
import { lastError, lastLogLines } from './check-home.js'
import { installedParts } from './check-machine.js'
import { type DoctorContext, type Env, openForCheck } from './context.js'
import { awaitEngine, inTemporaryHome, runAsClient } from './isolated-run.js'
import { programRecognition, targetsOf } from './targets.js'

const PORT = 8420
const NOT_NEEDED = 'No server runs. Hooks work without one.'

/**
 * Checks the server, which only makes hooks faster.
 * A fault is a server that is gone, foreign or too slow, while hooks still call it.
 */
export async function checkServer(context: DoctorContext): Promise<Finding> {
  const { home, env } = context
  const bytes = readIfThere(home.server)
  const isServed = isServerLocked(home.server)
  if (bytes === null) {
    if (isServed) return noFaults('A server runs, but not on a loopback address, so hooks work without it.')
    return noFaults(`${NOT_NEEDED}${await othersOn(Number(env.BATON_PORT) || PORT)}`)
  }
  if (!isServed) {
    const withdraw = (): void => whileNotServed(home.server, () => removeFileIf(home.server, bytes))
    return oneFault(`${home.server} names a server that no longer runs.`, fixHint('remove it'), withdraw)
  }
  const announced = readAnnouncement(home.server)
  if (announced === null)
    return oneFault(
      `Another version of Baton wrote ${home.server}, so hooks do not use the server.`,
      'Stop the server, then run baton serve.',
    )
  const connection = await proveServer(announced, scaleTimeout(PATIENCE_MS))
  if (typeof connection === 'string') return oneFault(...explainUnproven(announced, connection))
  const answer = await askPort({ socket: connection, token: announced.token })
  const judged = judgeServer(announced, answer, context.version)
  if (judged.faults.length > 0) return judged
  if (!lookAtLauncher(home.launcher)) return judgeSlow(context, judged.summary)
  const ms = await askThroughLauncher(context, bytes)
  if (ms === null)
    return oneFault(
      `The launcher cannot reach the server on port ${announced.port}, so hooks work without it.`,
      'Put a bash with /dev/tcp first on the PATH, then run baton install.',
    )
  return judgeSlow(context, `${judged.summary} Hooks reach it in ${ms} ms.`)
}

function explainUnproven(
  { port, pid }: Pick<AnnouncedServer, 'port' | 'pid'>,
  why: ProofFailure,
): [detail: string, fix: string] {
  const restart = `Run kill ${pid}, then baton serve.`
  switch (why) {
    case 'nobody':
      return [`The server (process ${pid}) is not reachable on port ${port}, so hooks work without it.`, restart]
    case 'stranger':
      return [`Another program answers on port ${port} of the server, so hooks work without the server.`, restart]
    case 'silent':
      return [`The server on port ${port} (process ${pid}) does not answer. Each hook loses a second.`, restart]
  }
}

function judgeServer({ port, pid }: Pick<AnnouncedServer, 'port' | 'pid'>, answer: Answer, own: string): Finding {
  const restart = `Run kill ${pid}, then baton serve.`
  if (answer.kind !== 'baton') return oneFault(...explainUnproven({ port, pid }, 'silent'))
  if (answer.version !== own)
    return oneFault(`The server runs version ${answer.version}, but version ${own} is installed.`, restart)
  return noFaults(`http://127.0.0.1:${port}, version ${answer.version}, process ${pid}, answers in ${answer.ms} ms.`)
}

/**
 * Checks the file `slow` that a hook writes when the server answered too slowly.
 * While the time in the file has not passed (a minute), hooks skip the server.
 */
function judgeSlow({ home, now }: DoctorContext, summary: string): Finding {
  const path = join(dirname(home.server), 'slow')
  const bytes = readIfThere(path)
  const left = Number(bytes?.toString().trim()) * 1000 - now().getTime()
  if (bytes === null || !(left > 0)) return noFaults(summary)
  return oneFault(
    `The server was too slow for a hook, so hooks skip it for another ${agoText(left)}.`,
    fixHint('let hooks use it again at once'),
    () => removeFileIf(path, bytes),
  )
}

async function othersOn(port: number): Promise<string> {
  const { kind } = await askPort({ port })
  if (kind === 'nobody') return ''
  const user = kind === 'other-home' ? 'the server of another home' : 'another program'
  return ` ${user[0]!.toUpperCase()}${user.slice(1)} uses port ${port}, so baton serve needs --port.`
}

const PATIENCE_MS = 1_500

/**
 * The program that answers on a port of this machine.
 * `other-home` is a Baton that does not know our token.
 */
type Answer =
  | { kind: 'nobody' }
  | { kind: 'silent' }
  | { kind: 'stranger' }
  | { kind: 'other-home' }
  | { kind: 'baton'; version: string; pid: number; ms: number }

/**
 * Asks a server for its identity.
 * With a socket, the other end has proven to be our server and gets the token.
 * With a port alone, asks only whether a Baton listens there.
 */
function askPort(at: { port: number } | { socket: Socket; token: string }): Promise<Answer> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const headers = { Connection: 'close', ...('token' in at ? { Authorization: `Bearer ${at.token}` } : {}) }
    const way =
      'socket' in at ? { createConnection: () => at.socket, path: '/api/access' } : { port: at.port, path: '/health' }
    const asked = request({ host: '127.0.0.1', ...way, headers, timeout: scaleTimeout(PATIENCE_MS) }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > 10_000) asked.destroy()
      })
      response.on('error', () => resolve({ kind: 'stranger' }))
      const isBaton = response.headers['x-baton'] === '1'
      response.on('close', () =>
        resolve(isBaton ? readAccess(text, Math.round(performance.now() - startedMs)) : { kind: 'stranger' }),
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
 * Sends an empty payload through the launcher, as hooks do.
 * The server refuses and discards it.
 * Without a server the launcher spools it in its home, which is a temporary one.
 * Returns milliseconds, or null when the server was not reached.
 */
function askThroughLauncher({ agent, home, env }: DoctorContext, announced: Buffer): Promise<number | null> {
  return inTemporaryHome(env, async (probeHome, probeEnv) => {
    mkdirSync(join(probeHome, 'run'), { mode: 0o700 })
    writeFileSync(join(probeHome, 'run', 'server'), announced, { mode: 0o600 })
    symlinkSync(join(dirname(home.server), 'alive'), join(probeHome, 'run', 'alive'))
    const { ms } = await runAsClient(
      hookCommand(home.launcher, agentInstallers[agent]!.startEvent),
      '{}',
      probeEnv,
      probeHome,
    )
    return readdirSync(probeHome).includes('spool') ? null : ms
  })
}

const NEXT_STEP = 'Fix what the other checks report, then run baton doctor. If they report nothing, read the log.'

/**
 * Proves that a signal arrives.
 * Runs the hook commands of the settings like the client does.
 * The installed launcher and engine run, and the result is read from the store.
 * Uses a temporary home, so that no fake session appears in the real one.
 */
export async function checkSignal(context: DoctorContext): Promise<Finding> {
  if (!lookAtLauncher(context.home.launcher))
    return oneFault('No signal arrives, because the launcher is missing.', NEXT_STEP)
  return inTemporaryHome(context.env, (home, env) =>
    send(context, home, env, agentInstallers[context.agent]!.sample(home, crypto.randomUUID())),
  )
}

async function send(context: DoctorContext, home: string, env: Env, sample: SampleSignals): Promise<Finding> {
  const commands = commandsOf(context)
  const startedMs = performance.now()
  const start = await runAsClient(commands.hook, sample.sessionStart, env, home)
  if (start.code !== 0)
    return oneFault(
      `The command of the hook exits with ${start.code ?? 'no code'} instead of 0: ${commands.hook}`,
      NEXT_STEP,
    )
  await awaitEngine(home)
  const stored = Math.round(performance.now() - startedMs)
  const line = await runAsClient(commands.line, sample.statusLine, env, home)
  const missing = look(env, sample)
  if (missing)
    return oneFault(`No signal arrives: ${missing}. ${await reason(context, home, sample, env)}`.trim(), NEXT_STEP)
  if (line.stdout.trim() === '')
    return oneFault('A test signal was stored, but the status line shows nothing.', NEXT_STEP)
  return noFaults(
    `A test signal was stored after ${stored} ms. The hook took ${start.ms} ms, the status line ${line.ms} ms.`,
  )
}

/**
 * Returns the commands in the settings, or else those that install would write.
 * Missing ones are reported by another check.
 */
function commandsOf(context: DoctorContext): { hook: string; line: string } {
  const by = programRecognition(context)
  const installer = agentInstallers[context.agent]!
  const { launcher } = context.home
  const commands = {
    hook: hookCommand(launcher, installer.startEvent),
    line: statusLineCommand(launcher, pathKey(launcher), null),
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
  if (lock === null) throw new Error('a server of this home has started in the meantime')
  try {
    work()
  } finally {
    lock.release()
  }
}

/** Returns what is missing in the store. Null when everything arrived. */
function look(env: Env, sample: SampleSignals): string | null {
  if (!existsSync(join(env.BATON_HOME!, 'baton.db'))) return 'the engine created no store'
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

/**
 * Returns why no signal arrived.
 * Hooks are always silent, so the engine is run once more with its output shown.
 */
async function reason(context: DoctorContext, home: string, sample: SampleSignals, env: Env): Promise<string> {
  const log = join(home, 'baton.log')
  const logged = existsSync(log) ? lastError(lastLogLines(log), new Date()) : null
  if (logged) return logged
  const parts = installedParts(context)
  if (!parts || !existsSync(parts.engine)) return 'The engine is missing.'
  const words = [parts.node, parts.engine, 'status-line'].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const { stderr } = await runAsClient(`exec ${words.join(' ')}`, sample.statusLine, env, home)
  const said = stderr.split('\n').find((one) => /error|cannot|not found/i.test(one))
  return said ? `The engine reports: ${said.trim().slice(0, 300)}` : ''
}
