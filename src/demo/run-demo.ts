import type { ChildProcess } from 'node:child_process'
import { loadConfig } from '../config/load-config.js'
import type { Event, EventType } from '../contract/records/event.js'
import type { CheckResult } from '../contract/records/job.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { scaleTimeout } from '../lib/patience.js'
import { isAlive } from '../lib/process-info.js'
import type { ProgramContext } from '../lib/program-context.js'
import { type Model, startModel } from '../model/model.js'
import {
  DEMO_PROMPT,
  DEMO_SESSIONS_SCRIPT,
  HANDOFF_PROMPT,
  JOB_CONVERSATIONS,
  JOB_PROMPT,
  LAST_ANSWER,
} from './demo-script.js'
import {
  type HandoffSummary,
  type Summary,
  summarise,
  summariseHandoff,
  summariseJob,
  wasSummaryInstructed,
} from './demo-summary.js'
import { createDemoHome, type DemoHome, findClient } from './stage.js'
import { advanceStory, type DemoStory, INITIAL_JOB_STORY, INITIAL_STORY } from './story.js'

/** Shows the demo to the user. */
export interface DemoView {
  beginAct(number: number, title: string, prompt: string): void
  /**
   * Shows an event. `story` is the state before it.
   * The story's `session` is null unless the act is a job.
   */
  event(story: DemoStory, event: Event, about: { app: App; isInstructed(): boolean }): void
  /** Shows the checks of a job, of which those of `round` are new. */
  checks(checks: readonly CheckResult[], round: number): void
  skipped(reason: string): void
  /** Draws the current state. Called several times a second. */
  gauge(story: DemoStory): void
  /** Shows the result. The demo's home is deleted when the promise is fulfilled. */
  end(summary: Summary, env: Record<string, string>): Promise<void>
}

/**
 * The demo's script.
 * Job conversations come first, because a job's first message contains only its task.
 */
const SCRIPT = {
  ...DEMO_SESSIONS_SCRIPT,
  conversations: [...JOB_CONVERSATIONS, ...(DEMO_SESSIONS_SCRIPT.conversations ?? [])],
}

/** An open demo: its home, its model and the user who watches. */
interface Performance {
  stage: DemoHome
  app: App
  model: Model
  /** Path of the real client. */
  client: string
  view: DemoView
  stopped: Promise<void>
}

/**
 * Runs the three acts of the demo in a temporary home and returns the summary.
 * Throws when the client fails or `stopped` is fulfilled. The home is deleted in any case.
 */
export async function runDemo(context: ProgramContext, view: DemoView, stopped: Promise<void>): Promise<Summary> {
  const client = findClient(context.env, context.program)
  const began = Date.now()
  const stage = createDemoHome(context)
  const model = await startModel({ script: SCRIPT })
  const app = openApp({ env: stage.env, loadConfig, rareWork: () => rareWork })
  const on: Performance = { stage, app, model, client, view, stopped }
  try {
    view.beginAct(1, 'A session compacts, and Baton puts lost facts back', DEMO_PROMPT)
    const child = stage.start(client, model.url)
    const story = await playAct({ child, awaited: ['session_ended', 'archive_created'] }, on)
    const handoff = await handOver(on)
    await carryJob(on)
    const summary = summarise(app, model, story, handoff, summariseJob(app, model), Date.now() - began)
    await view.end(summary, stage.env)
    return summary
  } finally {
    app.close()
    await model.close()
    await stage.strike()
  }
}

/** Runs the second act: a user's session in a hidden terminal. */
async function handOver(on: Performance): Promise<HandoffSummary> {
  const { app, model, view } = on
  view.beginAct(2, 'A session hands off to a fresh one before it compacts', HANDOFF_PROMPT)
  const child = on.stage.startInTerminal(on.client, model.url)
  if (child === null) {
    const skipped = 'it needs a hidden terminal, and neither script (util-linux) nor python3 is installed'
    view.skipped(skipped)
    return { handoff: null, skipped }
  }
  const isOver = (): boolean =>
    model.log().some(({ answer, ended_at: at }) => at !== null && answer?.text === LAST_ANSWER)
  await playAct({ child, isOver, awaited: ['handoff_completed', 'session_ended'] }, on)
  return { handoff: summariseHandoff(app, model), skipped: null }
}

/** Runs the third act: a job, started by the command that a user would type. */
async function carryJob(on: Performance): Promise<void> {
  on.view.beginAct(3, 'A job runs through three sessions until its checks pass', JOB_PROMPT)
  await playAct({ child: on.stage.startJob(on.client, on.model.url), opening: INITIAL_JOB_STORY, awaited: [] }, on)
}

const LONGEST_MS = 180_000
const LOOK_MS = 120
const SETTLE_MS = 8_000
const LEAVE_MS = 4_000
const STOP_MS = 6_000

/** An act of the demo: a client, or a command that runs clients, from its start to its end. */
export interface DemoAct {
  child: ChildProcess
  /** Initial state of its story. Absent for a session. */
  opening?: DemoStory
  /**
   * True when the act is complete, so that the client is exited as a user would.
   * Absent when it ends by itself.
   */
  isOver?: () => boolean
  /** Events that may arrive after the client has exited. */
  awaited: EventType[]
  /** Command that runs the act, as messages name it. Absent for the demo. */
  command?: string
  /** Milliseconds after which the act is given up. Absent for three minutes. */
  longestMs?: number
}

/**
 * Runs the client and shows Baton's own events as they arrive.
 * Ctrl-C ends the client and cleans up.
 */
export async function playAct(
  act: DemoAct,
  { app, model, view, stopped }: Omit<Performance, 'stage' | 'client'>,
): Promise<DemoStory> {
  const { child, command = 'baton demo', longestMs = LONGEST_MS } = act
  const before = app.store.events().at(-1)?.id ?? 0
  const about = { app, isInstructed: () => wasSummaryInstructed(model) }
  let story = act.opening ?? INITIAL_STORY
  let seen = before
  let round = 0
  let left = false
  const showChecks = (): void => {
    const { checks } = app.store.jobs().at(-1) ?? { checks: [] }
    const newest = Math.max(0, ...checks.map((one) => one.round))
    if (newest === round) return
    round = newest
    view.checks(checks, newest)
  }
  const look = (): void => {
    showChecks()
    for (const event of app.store.events({ afterId: seen })) {
      seen = event.id
      view.event(story, event, about)
      story = advanceStory(story, event)
    }
    view.gauge(story)
    if (left || !act.isOver?.()) return
    left = true
    leave(child)
  }
  const timer = setInterval(look, LOOK_MS)
  try {
    const end = await Promise.race([ended(child), stopped.then(() => 'stopped' as const), late(longestMs)])
    if (end === 'stopped')
      throw new BatonError(
        command === 'baton demo' ? 'The demo was stopped.' : `${command} was stopped.`,
        `Its folder is deleted. Run ${command} to start again.`,
        EXIT.failed,
      )
    if (end === 'late')
      throw new BatonError(
        `One part of ${command} took longer than ${Math.round(longestMs / 60_000)} minutes.`,
        `Run ${command} again when the machine is less busy.`,
      )
    if (end.code !== 0 && !left)
      throw new BatonError(
        `The client ended with ${end.code}: ${end.said.trim() || 'no reason given'}`,
        `Run ${command} again. If it fails again, try another version of the client.`,
      )
    await settled(app, act.awaited, before)
    look()
    return story
  } finally {
    clearInterval(timer)
    await stop(child)
    endClients(app)
  }
}

/** Types /exit as a user does. Ends the client by a signal if it does not react. */
function leave(child: ChildProcess): void {
  child.stdin?.on('error', () => {})
  child.stdin?.write('/exit')
  // The client treats text and Enter in one write as a paste.
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

const late = (ms: number): Promise<'late'> =>
  new Promise((resolve) => setTimeout(() => resolve('late'), scaleTimeout(ms)).unref())

/**
 * Waits for awaited events:
 * the last hook's engine and the archiving process may outlive the client.
 */
async function settled(app: App, awaited: EventType[], before: number): Promise<void> {
  const end = Date.now() + scaleTimeout(SETTLE_MS)
  const over = (): boolean => {
    const events = app.store.events({ afterId: before })
    return awaited.every((type) => events.some((event) => event.type === type && event.data.reason !== 'clear'))
  }
  while (!over() && Date.now() < end) {
    app.drain()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  // A client ends at the first signal.
  // A job only pauses, and ends all its processes at the second Ctrl-C.
  const steps = [
    ['SIGTERM', 0],
    ['SIGINT', 150],
    ['SIGINT', 400],
  ] as const
  const signals = steps.map(([signal, after]) => setTimeout(() => child.kill(signal), after))
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  for (const timer of [...signals, force]) clearTimeout(timer)
}

/** Ends clients that outlived their terminal. All sessions in this store belong to the demo. */
function endClients(app: App): void {
  for (const { process: client } of app.store.sessions()) {
    if (client === null || !isAlive(client)) continue
    try {
      process.kill(client.pid, 'SIGKILL')
    } catch {
      // The process has already exited.
    }
  }
}
