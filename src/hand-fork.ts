import { spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ForkOf, forkAnswer, forkArguments, forkEnvironment, forkSettings } from './agents/claude-code/fork.js'
import { beginFork, endFork, type ForkWish, isForkWanted } from './engine/drive-fork.js'
import type { ForkGiven } from './engine/fork-brief.js'
import { isForking } from './engine/handoffs.js'
import type { House } from './house.js'
import { removeLeftovers, writeFileAtomic } from './lib/atomic-file.js'
import { endGroup } from './lib/end-group.js'
import { marked } from './lib/marked-processes.js'
import { makePrivateFolder } from './lib/private-folder.js'
import { isAlive, type ProcessIdentity } from './lib/process-info.js'
import { environmentOf, programOf } from './lib/process-place.js'

/** Whatever a fork starts carries the handoff in its environment: so it is found by whoever comes after a driver that was killed. */
const MARK = 'BATON_FORK'
/** A brief is one answer: longer than this it does not take. */
const ANSWER_MS = 5 * 60_000
const LOOK_MS = 500
const GRACE_MS = 2_000
const MOST_PRINTED = 4 * 1024 * 1024
const KEPT_TROUBLE = 2_000
const ENDING = '.json'

interface Forker {
  program: string
  arguments(of: ForkOf, settingsFile: string): string[]
  settings(of: ForkOf): Record<string, unknown>
  environment(env: Record<string, string | undefined>): Record<string, string>
  answer(printed: string): ForkGiven
}

/** How a session of each agent is forked. */
const FORKERS: Record<string, Forker> = {
  'claude-code': {
    program: 'claude',
    arguments: forkArguments,
    settings: forkSettings,
    environment: forkEnvironment,
    answer: forkAnswer,
  },
}

/** What a fork needs of the house. */
type ForkHouse = Pick<House, 'engine' | 'log'> & { home: Pick<House['home'], 'forks'> }

/** Has a fork write the brief of a handoff, to its end. */
export async function forkForBrief(
  house: ForkHouse,
  self: ProcessIdentity,
  handoffId: string,
  withinMs = ANSWER_MS,
): Promise<void> {
  const { parts } = house.engine
  const settingsFile = join(house.home.forks, `${handoffId}${ENDING}`)
  const end = async (): Promise<void> => {
    await endMarked(`${MARK}=${handoffId}`)
    rmSync(settingsFile, { force: true })
  }
  await end()
  const wish = beginFork(parts, self, handoffId)
  if (wish === null) return
  const isWanted = (): boolean => isForkWanted(parts, self, handoffId)
  const given =
    wish === 'no more'
      ? { answer: null, why: 'whoever saw to it was ended twice', isLast: true }
      : await ask(wish, { [MARK]: handoffId }, { isWanted, withinMs, settingsFile, log: house.log }).finally(end)
  if (given === null) return
  house.log('info', 'a fork was asked for a brief', { handoff: handoffId, answered: given.answer !== null, reason: given.why })
  endFork(parts, self, handoffId, given)
}

/** Settings of forks whose driver was killed, and which nobody wants any more. */
export function removeLeftSettings({ engine, home }: ForkHouse): void {
  const { store } = engine.parts
  removeLeftovers(home.forks)
  for (const name of existsSync(home.forks) ? readdirSync(home.forks) : []) {
    const handoff = name.endsWith(ENDING) ? store.handoff(name.slice(0, -ENDING.length)) : undefined
    if (handoff === null || (handoff && !isForking(handoff))) rmSync(join(home.forks, name), { force: true })
  }
}

/** The fork and whatever it has started. */
async function endMarked(mark: string): Promise<void> {
  const left = (): number[] => marked(mark).filter((pid) => pid !== process.pid)
  for (const pid of left()) await endGroup(pid, GRACE_MS)
  for (const pid of left()) signalOne(pid)
}

function signalOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone meanwhile.
  }
}

interface Bounds {
  isWanted(): boolean
  withinMs: number
  settingsFile: string
  log: House['log']
}

/** null: nobody wants it any more. */
async function ask(wish: ForkWish, mark: Record<string, string>, bounds: Bounds): Promise<ForkGiven | null> {
  const forker = FORKERS[wish.agent]
  const { folder } = wish
  if (!forker || folder === null) return { answer: null, why: 'no session of this kind can be forked' }
  const client = wish.client && isAlive(wish.client) ? wish.client : null
  const its = client && environmentOf(client.pid)
  // In another environment the conversation would go elsewhere, with another key.
  if (!client || !its) return { answer: null, why: 'the environment of its client is not known' }
  const [program, ...first] = programOf(client.pid) ?? [forker.program]
  const env = { ...forker.environment(its), ...mark }
  const of: ForkOf = { sessionId: wish.sessionId, client, folder }
  makePrivateFolder(dirname(bounds.settingsFile))
  writeFileAtomic(bounds.settingsFile, JSON.stringify(forker.settings(of)), { mode: 0o600 })
  const args = [...first, ...forker.arguments(of, bounds.settingsFile)]
  const child = spawn(program!, args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {})
  child.stdin.end(wish.prompt)
  let [printed, trouble] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    if (printed.length < MOST_PRINTED) printed += piece
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    trouble = (trouble + piece).slice(-KEPT_TROUBLE)
  })
  return new Promise((resolve) => {
    const began = performance.now()
    const leave = (given: ForkGiven | null): void => {
      clearInterval(look)
      resolve(given)
    }
    const look = setInterval(() => {
      if (!bounds.isWanted()) leave(null)
      else if (performance.now() - began > bounds.withinMs)
        leave({ answer: null, why: `it had not answered after ${Math.round(bounds.withinMs / 1000)} seconds` })
    }, LOOK_MS)
    child.once('error', (error) => {
      bounds.log('warn', 'a fork could not be started', { reason: String(error) })
      leave({ answer: null, why: `the client could not be started (${program})` })
    })
    child.once('close', (code) => {
      if (code !== 0) bounds.log('warn', 'the client of a fork failed', { code, said: trouble.trim() })
      leave(printed === '' ? { answer: null, why: `the client ended with ${code ?? 'a signal'}` } : forker.answer(printed))
    })
  })
}
