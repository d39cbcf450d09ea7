import type { ChildProcess } from 'node:child_process'
import type { EventType } from '../../contract/event.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { isAlive } from '../../lib/process-info.js'
import type { Display } from './display.js'
import { OPENING, type Story, tell } from './story.js'

const LONGEST_MS = 180_000
const LOOK_MS = 120
const SETTLE_MS = 8_000
const LEAVE_MS = 4_000
const STOP_MS = 6_000

/** One client, or one command that runs clients, from its start to its end. */
export interface Act {
  child: ChildProcess
  /** How its story begins and goes on; absent: that of a session. */
  opening?: Story
  tell?: typeof tell
  /** What no event tells, since it was last asked. */
  looks?: () => string[]
  /** Whether all is said; the client is then left as a person leaves it. Absent: it ends by itself. */
  isOver?: () => boolean
  /** Events that may come after the client has gone. */
  awaited: EventType[]
}

/** Runs the client and tells what Baton's own events say, as they come. Ctrl-C ends the client and cleans up. */
export async function play(act: Act, house: House, show: Display, stopped: Promise<void>): Promise<Story> {
  const { child } = act
  const before = house.store.events().at(-1)?.id ?? 0
  let story = act.opening ?? OPENING
  let seen = before
  let left = false
  const look = (): void => {
    for (const line of act.looks?.() ?? []) show.line(line)
    for (const event of house.store.events({ afterId: seen })) {
      seen = event.id
      const told = (act.tell ?? tell)(story, event, show.paint, (id) => house.store.brief(id))
      story = told.story
      if (told.line !== null) show.line(told.line)
    }
    show.gauge(story)
    if (left || !act.isOver?.()) return
    left = true
    leave(child)
  }
  const timer = setInterval(look, LOOK_MS)
  try {
    const end = await Promise.race([ended(child), stopped.then(() => 'stopped' as const), late()])
    if (end === 'stopped') throw new BatonError('The demo was stopped.', 'Nothing is left behind.', EXIT.failed)
    if (end === 'late') throw new BatonError('The demo took longer than three minutes.', 'Run it again on a calmer machine.')
    if (end.code !== 0 && !left)
      throw new BatonError(
        `The client ended with ${end.code}: ${end.said.trim() || 'no reason given'}`,
        'Run baton demo again; if it stays so, try another version of the client.',
      )
    await settled(house, act.awaited, before)
    look()
    return story
  } finally {
    clearInterval(timer)
    await stop(child)
    endClients(house)
  }
}

/** As a person does; the client is ended if it does not listen. */
function leave(child: ChildProcess): void {
  child.stdin?.on('error', () => {})
  child.stdin?.write('/exit')
  // Text and Enter at once are taken for a paste.
  setTimeout(() => child.stdin?.write('\r'), 300)
  const force = setTimeout(() => child.kill('SIGTERM'), LEAVE_MS)
  child.once('close', () => clearTimeout(force))
}

function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })
}

const late = (): Promise<'late'> => new Promise((resolve) => setTimeout(() => resolve('late'), LONGEST_MS).unref())

/** The last hook's engine, and the process that keeps transcripts, may still be at work when the client has gone. */
async function settled(house: House, awaited: EventType[], before: number): Promise<void> {
  const end = Date.now() + SETTLE_MS
  const over = (): boolean => {
    const events = house.store.events({ afterId: before })
    return awaited.every((type) => events.some((event) => event.type === type && event.data.reason !== 'clear'))
  }
  while (!over() && Date.now() < end) {
    house.drain()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  // A client ends at the first. A job only stops for it; at the second Ctrl-C it ends all it runs.
  const told = [
    ['SIGTERM', 0],
    ['SIGINT', 150],
    ['SIGINT', 400],
  ] as const
  const signals = told.map(([signal, after]) => setTimeout(() => child.kill(signal), after))
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  for (const timer of [...signals, force]) clearTimeout(timer)
}

/** A client may outlive the terminal it was started in. All in this store are the demo's own. */
function endClients(house: House): void {
  for (const { process: client } of house.store.sessions()) {
    if (client === null || !isAlive(client)) continue
    try {
      process.kill(client.pid, 'SIGKILL')
    } catch {
      // it has gone meanwhile
    }
  }
}
