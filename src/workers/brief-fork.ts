import { spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ForkSource } from '../agents/agent.js'
import { agentClients } from '../agents/clients.js'
import { beginFork, endFork, type ForkRequest, isForkWanted } from '../engine/handoff/drive-fork.js'
import type { ForkResult } from '../engine/handoff/fork-brief.js'
import { isForking } from '../engine/handoff/handoffs.js'
import type { App } from '../engine/open-engine.js'
import { removeLeftovers, writeFileAtomic } from '../lib/atomic-file.js'
import { endGroup } from '../lib/end-group.js'
import { processesMarkedWith } from '../lib/marked-processes.js'
import { makePrivateFolder } from '../lib/private-folder.js'
import type { ProcessIdentity } from '../lib/process-info.js'

/**
 * Variable in the environment of every process of a fork. It holds the handoff's id.
 * By this variable, the fork is found after the process that started it was killed.
 */
const MARK = 'BATON_FORK'
/** Milliseconds for a fork's answer. A brief is one answer and takes less. */
const ANSWER_MS = 5 * 60_000
const LOOK_MS = 500
const GRACE_MS = 2_000
const MOST_PRINTED = 4 * 1024 * 1024
const KEPT_TROUBLE = 2_000
const ENDING = '.json'

/** The part of the app that running a fork needs. */
type ForkApp = Pick<App, 'engine' | 'log'> & { home: Pick<App['home'], 'forks'> }

/** Runs a fork (copy of a session) that writes the brief of a handoff, until the fork ends. */
export async function forkForBrief(
  app: ForkApp,
  self: ProcessIdentity,
  handoffId: string,
  withinMs = ANSWER_MS,
): Promise<void> {
  const { deps } = app.engine
  const settingsFile = join(app.home.forks, `${handoffId}${ENDING}`)
  const end = async (): Promise<void> => {
    await endForkProcesses(`${MARK}=${handoffId}`)
    rmSync(settingsFile, { force: true })
  }
  await end()
  const request = beginFork(deps, self, handoffId)
  if (request === null) return
  const isWanted = (): boolean => isForkWanted(deps, self, handoffId)
  const given =
    request === 'no more'
      ? { answer: null, why: 'the process that ran it was killed twice', isLast: true }
      : await runFork(request, { [MARK]: handoffId }, { isWanted, withinMs, settingsFile, log: app.log }).finally(end)
  if (given === null) return
  app.log('info', 'a fork was asked for a brief', {
    handoff: handoffId,
    answered: given.answer !== null,
    reason: given.why,
  })
  endFork(deps, self, handoffId, given)
}

/** Removes settings files of forks that are no longer wanted and whose starter was killed. */
export function removeLeftSettings({ engine, home }: ForkApp): void {
  const { store } = engine.deps
  removeLeftovers(home.forks)
  for (const name of existsSync(home.forks) ? readdirSync(home.forks) : []) {
    const handoff = name.endsWith(ENDING) ? store.handoff(name.slice(0, -ENDING.length)) : undefined
    if (handoff === null || (handoff && !isForking(handoff))) rmSync(join(home.forks, name), { force: true })
  }
}

/** Ends the fork and all processes it has started. */
async function endForkProcesses(mark: string): Promise<void> {
  const listRunning = (): number[] => processesMarkedWith(mark).filter((pid) => pid !== process.pid)
  for (const pid of listRunning()) await endGroup(pid, GRACE_MS)
  for (const pid of listRunning()) signalOne(pid)
}

function signalOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process ended before it could be ended here.
  }
}

interface Bounds {
  isWanted(): boolean
  withinMs: number
  settingsFile: string
  log: App['log']
}

/** Runs the fork and returns its answer. Null when the fork is no longer wanted. */
async function runFork(request: ForkRequest, mark: Record<string, string>, bounds: Bounds): Promise<ForkResult | null> {
  const forker = agentClients[request.agent]?.fork
  if (!forker) return { answer: null, why: 'sessions of this agent cannot be forked' }
  const client = forker.client(request.client, request.sessionId)
  if (typeof client === 'string') return { answer: null, why: client }
  const { folder } = client
  const [program, ...first] = client.program
  const env = { ...forker.environment(client.environment), ...mark }
  const of: ForkSource = { sessionId: request.sessionId, client: request.client, folder }
  makePrivateFolder(dirname(bounds.settingsFile))
  writeFileAtomic(bounds.settingsFile, JSON.stringify(forker.settings(of)), { mode: 0o600 })
  const args = [...first, ...forker.arguments(of, bounds.settingsFile)]
  const child = spawn(program!, args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {})
  child.stdin.end(request.prompt)
  let [printed, trouble] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    if (printed.length < MOST_PRINTED) printed += piece
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    trouble = (trouble + piece).slice(-KEPT_TROUBLE)
  })
  return new Promise((resolve) => {
    const began = performance.now()
    const leave = (given: ForkResult | null): void => {
      clearInterval(look)
      resolve(given)
    }
    const look = setInterval(() => {
      if (!bounds.isWanted()) leave(null)
      else if (performance.now() - began > bounds.withinMs)
        leave({ answer: null, why: `it did not answer within ${Math.round(bounds.withinMs / 1000)} seconds` })
    }, LOOK_MS)
    child.once('error', (error) => {
      bounds.log('warn', 'a fork could not be started', { reason: String(error) })
      leave({ answer: null, why: `the client could not be started (${program})` })
    })
    child.once('close', (code) => {
      if (code !== 0) bounds.log('warn', 'the client of a fork failed', { code, said: trouble.trim() })
      leave(
        printed === '' ? { answer: null, why: `the client ended with ${code ?? 'a signal'}` } : forker.answer(printed),
      )
    })
  })
}
