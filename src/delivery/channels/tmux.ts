import { setTimeout as pause } from 'node:timers/promises'
import type { ClientStatus, Terminal } from '../../contract/terminal.js'
import { faultPoint } from '../../lib/fault-point.js'
import {
  dropBuffer,
  isDescendantOf,
  type PaneState,
  paneOf,
  pasteBuffer,
  pressKeys,
  readPane,
  readProcessPlace,
  type TmuxPane,
} from './tmux-pane.js'

export interface TypingTarget {
  /** The session for which the text is meant. */
  sessionId: string
  /**
   * True when a turn may be running.
   * The client then queues the prompt until the next tool boundary.
   */
  queue?: boolean
  /**
   * True when a killed process may have left the text in the composer. Then only Enter is missing.
   */
  mayStand?: boolean
}

export type TypingRefusal =
  /** The text is empty, a prompt that starts like a command, or a command that is none. */
  | 'text'
  | 'no-client'
  | 'other-session'
  | 'busy'
  /** A dialog is open. */
  | 'waiting'
  /** The client does not report its status. */
  | 'status'
  | 'no-pane'
  /** The pane belongs to another process. */
  | 'other-pane'
  /** The client is stopped, or another program has its keyboard. */
  | 'behind'
  | 'copy-mode'
  | 'barred'
  /** The composer contains text of the user. */
  | 'draft'
  /** The user has just pressed a key. */
  | 'keys'
  /** The content of the composer cannot be read. */
  | 'screen'
  /** tmux does not answer. */
  | 'tmux'
  /** The user typed at the same time, so nothing was sent. */
  | 'raced'
  /** The client did not show the pasted text, or did not accept it. */
  | 'not-taken'

/**
 * A refusal.
 * `left` says what of our text may remain; a slow client may still have accepted `text`.
 */
export type RefusedTyping = { sent: false; why: TypingRefusal; detail: string; left: 'nothing' | 'text' }

/**
 * Result of typing.
 * Sent means that Enter was pressed on exactly our text and the client continued.
 * A key that a program sent may not be drawn for 10 to 40 ms, so it can follow our text unseen.
 * Only the client's own event, which contains the accepted prompt, confirms the delivery.
 */
export type TypingResult = { sent: true } | RefusedTyping

const EVERY_MS = 20
/**
 * Reads of the screen before a draft counts.
 * A client that has just started a fresh session still shows the previous frame for a moment.
 */
const LOOKS_TO_SETTLE = 12
/**
 * Reads of the screen while waiting for the client.
 * On a busy machine it was seen to take a second per key.
 */
const LOOKS_FOR_CLIENT = 250
/**
 * Time after which a key counts as drawn. Before that, nothing is pasted and Enter is not pressed.
 */
const KEYS_REST_MS = 1_000
const LOOKS_FOR_KEYS = 100

let buffers = 0

/**
 * Types a command of the client, such as `/clear`.
 * Types only into an idle client, because a queued command cannot be withdrawn.
 */
export function typeSlashCommand(
  terminal: Terminal,
  command: string,
  target: Omit<TypingTarget, 'queue'>,
): Promise<TypingResult> {
  if (!/^\/[a-z][\w:-]*(?: [^\x00-\x1f\x7f-\x9f]+)?$/i.test(command))
    return Promise.resolve(refuse('text', 'the text is not a command'))
  return type(terminal, command, { ...target, queue: false }, command.split(' ', 1)[0]!)
}

/**
 * Checks once whether typing is possible.
 * Null when typing can be tried now.
 * `busy` when the composer is free and only the running turn must end.
 */
export async function whyCannotTypeNow(
  terminal: Terminal,
  text: string,
  target: TypingTarget,
): Promise<RefusedTyping | null> {
  const live = terminal.live()
  const wrong = judgeClient(live, { ...target, queue: true })
  if (wrong !== null) return wrong
  const place = paneOf(live!.pid, live!.tmux?.pane ?? null)
  if (place === null) return refuse('no-pane', 'the client does not run in tmux')
  const look = await readPane(place)
  if (look === null) return refuse('tmux', 'tmux does not show the pane')
  const elsewhere = judgePane(look, live!.pid)
  if (elsewhere !== null) return elsewhere
  const composer = terminal.composer(look.screen, look.cursor)
  if (composer.state === 'empty' || (target.mayStand && stands(terminal, composer, text)))
    return judgeClient(terminal.live(), target)
  return composer.state === 'draft' ? refuse('draft', composer.text) : refuse('screen', composer.why)
}

/** Returns whether the composer contains exactly our text. */
function stands(terminal: Terminal, composer: ReturnType<Terminal['composer']>, text: string): boolean {
  const found = composer.state === 'draft' ? terminal.findPasted(composer.text, text) : null
  return found !== null && found.before === '' && found.after === ''
}

/**
 * Removes a text that a dead process left in the composer, if nothing else is there.
 * False when it was not removed.
 */
export async function removeLeftText(terminal: Terminal, text: string, target: TypingTarget): Promise<boolean> {
  if ((await whyCannotTypeNow(terminal, text, { ...target, mayStand: true })) !== null) return false
  const live = terminal.live()
  const place = live && paneOf(live.pid, live.tmux?.pane ?? null)
  const look = place && (await readPane(place))
  const composer = look && terminal.composer(look.screen, look.cursor)
  if (!composer || !stands(terminal, composer, text)) return false
  return (await deleteOurText(terminal, place!, text, refuse('raced', text))).left === 'nothing'
}

/**
 * Pastes a prompt of any length as one piece and presses Enter.
 * Refuses an empty prompt, and one that begins with `/` or `!`.
 */
export function pastePrompt(terminal: Terminal, prompt: string, target: TypingTarget): Promise<TypingResult> {
  const text = printable(prompt).trim()
  if (text === '') return Promise.resolve(refuse('text', 'empty'))
  if (/^[/!]/.test(text)) return Promise.resolve(refuse('text', `begins with ${text[0]}`))
  return type(terminal, text, target, null)
}

/**
 * Removes control characters.
 * An escape sequence could end the paste early, and the rest would count as keys.
 */
function printable(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\x1b\[[\d;?]*[ -/]*[@-~]/g, '')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '')
}

/** Returns why the client cannot be typed into now. Null when it can. */
function judgeClient(live: ClientStatus | null, target: TypingTarget): RefusedTyping | null {
  if (live === null) return refuse('no-client', 'the client does not run')
  if (live.sessionId !== target.sessionId) return refuse('other-session', `its session is ${live.sessionId}`)
  if (live.status === 'waiting') return refuse('waiting', live.waitingFor ?? 'a dialog is open')
  if (live.status === 'busy' && !target.queue) return refuse('busy', 'a turn is under way')
  if (live.status === 'unknown') return refuse('status', 'the client does not report its state')
  return null
}

function judgePane(look: PaneState, pid: number): RefusedTyping | null {
  if (look.inMode) return refuse('copy-mode', 'the pane is in copy mode or another tmux mode')
  if (look.barred !== null) return refuse('barred', look.barred)
  if (!isDescendantOf(pid, look.pid)) return refuse('other-pane', `the pane belongs to process ${look.pid}`)
  if (readProcessPlace(pid)?.inFront !== true)
    return refuse('behind', 'the client is not in the foreground of its terminal')
  return null
}

async function type(
  terminal: Terminal,
  text: string,
  target: TypingTarget,
  command: string | null,
): Promise<TypingResult> {
  const live = terminal.live()
  const wrong = judgeClient(live, target)
  if (wrong !== null) return wrong
  const place = paneOf(live!.pid, live!.tmux?.pane ?? null)
  if (place === null) return refuse('no-pane', 'the client does not run in tmux')
  const buffer = `baton-${process.pid}-${++buffers}`
  // Load the buffer before the check, so that only the paste itself follows the check.
  const first = await readPane(place, { name: buffer, text })
  const done =
    first === null
      ? refuse('tmux', 'tmux did not accept the text')
      : await paste(terminal, place, first, buffer, text, target)
  if (!('pasted' in done)) await dropBuffer(place, buffer)
  return 'sent' in done ? done : enter(terminal, place, text, target, command, 'pasted' in done ? done.pasted : null)
}

async function paste(
  terminal: Terminal,
  place: TmuxPane,
  first: PaneState,
  buffer: string,
  text: string,
  target: TypingTarget,
): Promise<RefusedTyping | { pasted: PaneState } | { stands: true }> {
  let look: PaneState | null = first
  let refused = refuse('raced', 'the screen keeps changing')
  for (let looks = 0, atKeys = 0; looks < LOOKS_TO_SETTLE && atKeys < LOOKS_FOR_KEYS; ) {
    const live = terminal.live()
    const wrong = judgeClient(live, target) ?? judgePane(look, live!.pid)
    if (wrong !== null) return wrong
    const composer = terminal.composer(look.screen, look.cursor)
    if (composer.state === 'empty' && !areKeysAtRest(look)) {
      refused = refuse('keys', 'a key was just pressed')
      atKeys++
    } else {
      looks++
      if (composer.state === 'empty') {
        const pasted = await pasteBuffer(place, look, buffer)
        if (pasted === null) return leave('tmux', 'tmux did not report whether it pasted the text')
        if (pasted) return { pasted: look }
      } else if (target.mayStand && stands(terminal, composer, text)) return { stands: true }
      else refused = composer.state === 'draft' ? refuse('draft', composer.text) : refuse('screen', composer.why)
    }
    await pause(EVERY_MS)
    look = await readPane(place)
    if (look === null) return refuse('tmux', 'tmux does not show the pane')
  }
  return refused
}

/** Returns whether the user's last key is already visible on the screen. */
const areKeysAtRest = ({ keysRest }: PaneState): boolean => keysRest === null || keysRest >= KEYS_REST_MS

/**
 * Presses Enter once our text is visible in the composer.
 * `empty` is the pane right before the paste.
 * Null when the text was in the composer already.
 */
async function enter(
  terminal: Terminal,
  place: TmuxPane,
  text: string,
  target: TypingTarget,
  command: string | null,
  empty: PaneState | null,
): Promise<TypingResult> {
  let shown = false
  let last = 'the pasted text did not appear'
  for (let looks = 0; looks < LOOKS_FOR_CLIENT; looks++) {
    if (looks > 0) await pause(EVERY_MS)
    const look = await readPane(place)
    if (look === null) return leave('tmux', 'tmux does not show the pane')
    const live = terminal.live()
    const wrong = judgeClient(live, target)
    if (wrong !== null) return deleteOurText(terminal, place, text, wrong)
    const elsewhere = judgePane(look, live!.pid)
    if (elsewhere !== null) return { ...elsewhere, left: 'text' }
    const composer = terminal.composer(look.screen, look.cursor)
    // While it redraws, the client shows half a screen.
    // An open dialog is reported by the client's status.
    if (composer.state === 'unknown') {
      last = composer.why
      continue
    }
    const found = composer.state === 'draft' ? terminal.findPasted(composer.text, text) : null
    if (composer.state === 'draft' && found !== null) {
      shown = true
      last = 'the screen keeps changing'
      if (found.before !== '' || found.after !== '')
        return deleteOurText(terminal, place, text, refuse('raced', composer.text))
      // Enter accepts the selected menu entry, and the menu may lag behind the text.
      const ready = areKeysAtRest(look) && (command === null || composer.menu === null || composer.menu === command)
      if (ready) faultPoint('DRIVER_ENTER')
      const pressed = ready && (await pressKeys(place, look, [{ name: 'Enter', times: 1 }]))
      if (pressed === null) return leave('tmux', 'tmux did not send Enter')
      // Never press Enter twice: if the first is only late, the second could answer a dialog.
      if (pressed)
        return (await isAccepted(terminal, place, text, live!))
          ? { sent: true }
          : leave('not-taken', 'the client did not accept Enter')
    } else if (shown) return leave('raced', 'the pasted text has changed')
  }
  const isOurs = !shown && empty !== null && (await clear(terminal, place, text, empty))
  return isOurs ? refuse('not-taken', last) : leave('not-taken', last)
}

/**
 * Deletes Baton's text from the client's input line, however the client shows the text.
 * The composer was empty and no key was pressed since, so all of its content is ours.
 * False when the text may still be there.
 */
async function clear(terminal: Terminal, place: TmuxPane, text: string, empty: PaneState): Promise<boolean> {
  const look = await readPane(place)
  const live = terminal.live()
  if (look === null || live === null || live.status === 'waiting' || judgePane(look, live.pid) !== null) return false
  const composer = terminal.composer(look.screen, look.cursor)
  const untouched = look.keys.active === empty.keys.active && look.keys.pressed === empty.keys.pressed
  if (composer.state !== 'draft' || composer.caret !== composer.text.length || !untouched) return false
  if (!(await pressKeys(place, look, [{ name: 'BSpace', times: [...text].length }]))) return false
  for (let looks = 0; looks < LOOKS_FOR_CLIENT; looks++) {
    const after = await readPane(place)
    if (after !== null && terminal.composer(after.screen, after.cursor).state === 'empty') return true
    await pause(EVERY_MS)
  }
  return false
}

/**
 * Returns whether the client accepted the text: the text is gone or the status changed.
 * False when nothing changed.
 */
async function isAccepted(terminal: Terminal, place: TmuxPane, text: string, before: ClientStatus): Promise<boolean> {
  for (let looks = 0; looks < LOOKS_FOR_CLIENT; looks++) {
    const live = terminal.live()
    if (live?.sessionId !== before.sessionId || live.status !== before.status) return true
    const look = await readPane(place)
    const composer = look && terminal.composer(look.screen, look.cursor)
    if (composer && (composer.state !== 'draft' || terminal.findPasted(composer.text, text) === null)) return true
    await pause(EVERY_MS)
  }
  return false
}

/**
 * Deletes only our own characters.
 * If they cannot be distinguished, they stay in the composer, unsent and visible to the user.
 */
async function deleteOurText(
  terminal: Terminal,
  place: TmuxPane,
  text: string,
  why: RefusedTyping,
): Promise<RefusedTyping> {
  for (let looks = 0; looks < LOOKS_FOR_CLIENT; looks++) {
    const live = terminal.live()
    const look = await readPane(place)
    if (live === null || live.status === 'waiting' || look === null || judgePane(look, live.pid) !== null) break
    const composer = terminal.composer(look.screen, look.cursor)
    const found = composer.state === 'draft' ? terminal.findPasted(composer.text, text) : null
    // A text that was just pasted may not be drawn yet.
    if (composer.state === 'draft' && found !== null) {
      const keys = keysToDelete(composer, found, text)
      const pressed = keys && (await pressKeys(place, look, keys))
      if (pressed === null) break
      if (pressed) return { ...why, left: (await isGone(terminal, place, text)) ? 'nothing' : 'text' }
    }
    await pause(EVERY_MS)
  }
  return { ...why, left: 'text' }
}

async function isGone(terminal: Terminal, place: TmuxPane, text: string): Promise<boolean> {
  for (let looks = 0; looks < LOOKS_FOR_CLIENT; looks++) {
    const look = await readPane(place)
    const composer = look && terminal.composer(look.screen, look.cursor)
    const isShown = composer?.state === 'draft' && terminal.findPasted(composer.text, text) !== null
    if (composer && composer.state !== 'unknown' && !isShown) return true
    await pause(EVERY_MS)
  }
  return false
}

/**
 * Returns the keys that delete only our text.
 * Null when it is unclear which keys would do that.
 * One key moves over one grapheme, which equals one character only in plain text.
 */
function keysToDelete(
  draft: { text: string; caret: number | null },
  found: NonNullable<ReturnType<Terminal['findPasted']>>,
  text: string,
): { name: string; times: number }[] | null {
  if (draft.caret === null) return null
  const plain = (part: string): boolean => /^[\x20-\x7e\n]*$/.test(part)
  const aside = draft.text.length - draft.caret
  if (aside !== 0 && aside !== found.after.length) return null
  const behind = aside === 0 ? found.after.length : 0
  if (!plain(found.after) || (found.before !== '' && found.keys > 1 && !plain(text))) return null
  return [
    { name: 'Left', times: behind },
    { name: 'BSpace', times: found.keys },
    { name: 'Right', times: behind },
  ]
}

const refuse = (why: TypingRefusal, detail: string): RefusedTyping => ({ sent: false, why, detail, left: 'nothing' })
const leave = (why: TypingRefusal, detail: string): RefusedTyping => ({ sent: false, why, detail, left: 'text' })
