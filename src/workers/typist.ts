import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { QUIET_KEYBOARD_MS, terminalOf } from '../app/client-terminals.js'
import type { Terminal } from '../contract/terminal.js'
import { type FolderWatch, watchFolders } from '../delivery/channels/changes.js'
import {
  pastePrompt,
  type RefusedTyping,
  removeLeftText,
  type TypingResult,
  type TypingTarget,
  typeSlashCommand,
  whyCannotTypeNow,
} from '../delivery/channels/tmux.js'
import { claimForks } from '../engine/handoff/drive-fork.js'
import {
  awaitReviews,
  beginTyping,
  claimHandoffs,
  type DriveStep,
  endTyping,
  giveUpTyping,
  nextStep,
  releaseHandoffs,
  storeTypingHindrance,
  type TextToType,
} from '../engine/handoff/drive-handoff.js'
import type { App } from '../engine/open-engine.js'
import { faultPoint } from '../lib/fault-point.js'
import { isAlive, type ProcessIdentity, processInfo } from '../lib/process-info.js'
import { forkForBrief, removeLeftSettings } from './brief-fork.js'

/** Milliseconds of frequent checks. A client ends its turn soon, a typing user takes longer. */
const PROMPT_MS = 10_000
/** Milliseconds before the same handoff is handled again, such as after its review ended. */
const AGAIN_MS = 500

/** Reasons not to type that the user can resolve, by the names that session rows show. */
const HINDRANCES: Partial<Record<RefusedTyping['why'], string>> = { busy: 'turn', waiting: 'dialog', draft: 'draft' }

/** Longest sleep in milliseconds unless the store changes. */
const LOOK_MS = 1_000
const REVIEW_LOOK_MS = 15_000
/** Milliseconds to pause after closing a due review, as another process may be closing it too. */
const REVIEW_OVER_MS = 50

/**
 * Types for every handoff for which no other process types.
 * Also runs forks for briefs (`brief-fork.ts`) and waits for the end of reviews.
 * Ends when no handoff needs it (see `engine/handoff/drive-handoff.ts`).
 * Sleeps in between until the client's state or the store changes.
 */
export async function driveHandoffs(app: App): Promise<void> {
  const self = processInfo(process.pid)
  if (self === null) return
  const { deps } = app.engine
  removeLeftSettings(app)
  const driven = new Map<string, Promise<void>>()
  const failed = new Set<string>()
  const ended = new Map<string, number>()
  const changes = watchFolders([dirname(app.home.store)])
  let changed: Promise<void> | null = null
  /** Starts work for a handoff unless work with the same `key` runs, failed or has just ended. */
  const begin = (id: string, key: string, what: string, work: typeof drive): void => {
    const hasRested = Date.now() - (ended.get(key) ?? 0) >= AGAIN_MS
    if (driven.has(key) || failed.has(key) || !hasRested) return
    const driving = work(app, self, id).catch((error) => {
      failed.add(key)
      app.log('error', `${what} for a handoff failed`, { handoff: id, reason: String(error) })
    })
    driven.set(
      key,
      driving.then(() => {
        driven.delete(key)
        ended.set(key, Date.now())
      }),
    )
  }
  for (;;) {
    for (const id of claimHandoffs(deps, self)) begin(id, id, 'typing', drive)
    for (const id of claimForks(deps, self)) begin(id, `fork ${id}`, 'a fork', (...told) => forkForBrief(...told))
    const review = awaitReviews(deps, self)
    if (driven.size === 0 && review === null && releaseHandoffs(deps, self, failed)) break
    const left = review === null ? LOOK_MS : review - app.now().getTime()
    if (left <= 0) {
      app.engine.checkDueHandoffs()
      await sleep(REVIEW_OVER_MS)
      continue
    }
    const rest = driven.size === 0 ? Math.min(left, REVIEW_LOOK_MS) : Math.min(left, LOOK_MS)
    changed ??= changes.next(rest, 50).then(() => {
      changed = null
    })
    await Promise.race([...driven.values(), changed])
  }
  changes.close()
}

async function drive(app: App, self: ProcessIdentity, id: string): Promise<void> {
  const { deps } = app.engine
  let changes: FolderWatch | null = null
  let began: number | null = null
  let looked = 0
  let refused = ''
  const quiet: Quiet = { since: null }
  try {
    for (;;) {
      const step = nextStep(deps, self, id)
      if (step === null) return
      const isGone = !isAlive(step.client)
      if (isGone || step.do === 'give-up') {
        app.log('info', 'typing for a handoff was stopped', {
          handoff: id,
          reason: isGone ? 'the client no longer runs' : 'its time limit is reached',
        })
        return giveUpTyping(deps, self, id, isGone)
      }
      changes ??= watchFolders([join(step.client.configDir, 'sessions'), dirname(app.home.store)])
      if (step.do === 'ready') {
        faultPoint('DRIVER_READY')
        if (Date.now() - looked >= READY_EVERY_MS) {
          looked = Date.now()
          await checkComposerEarly(step, quiet)
        }
        await changes.next(READY_EVERY_MS, 10)
        continue
      }
      began ??= Date.now()
      if (step.type !== null) {
        const typed = await tryToType(app, self, id, step, step.type, quiet)
        const why = typed === null || typed.sent ? '' : `${typed.why}: ${typed.detail}`
        if (why !== refused) {
          if (why !== '') app.log('debug', 'not typed', { handoff: id, reason: why })
          const isRefused = typed !== null && !typed.sent
          storeTypingHindrance(deps, self, id, isRefused ? (HINDRANCES[typed.why] ?? null) : null)
        }
        refused = why
      }
      const hurries = Date.now() - began < PROMPT_MS
      await changes.next(hurries ? 250 : 1_000, hurries ? 10 : 250)
    }
  } finally {
    changes?.close()
  }
}

/** Time since which the client's input line was empty at every check. Null when it was not. */
interface Quiet {
  since: number | null
}

/** Milliseconds between checks of the client's input line before there is anything to type. */
const READY_EVERY_MS = 1_000

async function checkComposerEarly({ agent, client, type }: DriveStep, quiet: Quiet): Promise<void> {
  const terminal = terminalOf(agent, client)
  if (terminal && type) await checkComposer(terminal, type.text, { sessionId: type.sessionId }, quiet)
}

/**
 * Types the text, or presses Enter if Baton's earlier text still stands in the input line.
 * Null when the text is no longer wanted, or the client has no terminal that Baton knows.
 */
async function tryToType(
  app: App,
  self: ProcessIdentity,
  id: string,
  step: DriveStep,
  type: TextToType,
  quiet: Quiet,
): Promise<TypingResult | null> {
  const { deps } = app.engine
  const terminal = terminalOf(step.agent, step.client)
  if (!terminal) return null
  const target = { sessionId: type.sessionId, mayStand: type.mayStand }
  if (type.remains !== null && (await removeLeftText(terminal, type.remains, target)))
    app.log('info', "Baton's text was removed from the composer", { handoff: id })
  const not =
    (await checkComposer(terminal, type.text, target, quiet)) ??
    (await checkComposerAfterQuiet(terminal, type.text, target, quiet))
  if (not !== null) return not
  if (!beginTyping(deps, self, id, type)) return null
  faultPoint('DRIVER_TYPING')
  const typed = await (type.what === 'clear' ? typeSlashCommand : pastePrompt)(terminal, type.text, target)
  if (typed.sent) faultPoint(type.what === 'clear' ? 'DRIVER_CLEARED' : 'DRIVER_PROMPTED')
  app.log('debug', typed.sent ? 'typed' : `refused, ${typed.left} left`, { handoff: id, what: type.what })
  endTyping(deps, self, id, typed.sent ? 'sent' : typed.left)
  return typed
}

async function checkComposer(
  terminal: Terminal,
  text: string,
  target: TypingTarget,
  quiet: Quiet,
): Promise<RefusedTyping | null> {
  const began = Date.now()
  const not = await whyCannotTypeNow(terminal, text, target)
  if (not === null || not.why === 'busy') quiet.since ??= began
  else if (not.why !== 'screen') quiet.since = null
  return not
}

async function checkComposerAfterQuiet(
  terminal: Terminal,
  text: string,
  target: TypingTarget,
  quiet: Quiet,
): Promise<RefusedTyping | null> {
  const left = quiet.since === null ? QUIET_KEYBOARD_MS : quiet.since + QUIET_KEYBOARD_MS - Date.now()
  if (left <= 0) return null
  await sleep(left)
  return checkComposer(terminal, text, target, quiet)
}
