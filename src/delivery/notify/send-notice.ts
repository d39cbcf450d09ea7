import { closeSync, constants, existsSync, fstatSync, openSync, writeSync } from 'node:fs'
import { platform } from 'node:os'
import type { NoticeData, NoticeRecord } from '../../contract/records/notice.js'
import { reasonOf } from '../../lib/errors.js'
import { httpPost, refusalReason } from '../../lib/http-post.js'
import { runCommand } from '../../lib/run-command.js'
import type { SendOutcome } from '../../policy/notice-schedule.js'

export interface SendPlace extends CommandPlace {
  /** Returns the terminal to ring for a notice. Null when there is none. */
  terminalOf(notice: NoticeRecord): string | null
}

/**
 * Sends notices of one target and kind as one message.
 * The notices are ordered oldest first.
 * Never throws.
 */
export async function sendNotice(
  notices: readonly NoticeRecord[],
  text: string,
  place: SendPlace,
): Promise<SendOutcome> {
  const { via, command, url } = notices[0]!.target
  const payload = payloadOf(notices, text)
  switch (via) {
    case 'bell':
      return ringAll(notices, place)
    case 'desktop':
      return showOnDesktop(text, place.env)
    case 'command':
      return runUserCommand(command!, payload, place)
    case 'webhook':
      return postWebhook(url!, payload)
    case 'ntfy':
      return postNtfy(url!, payload)
  }
}

/** Rings each terminal once, because sessions have terminals of their own. */
function ringAll(notices: readonly NoticeRecord[], place: SendPlace): SendOutcome {
  const terminals = [...new Set(notices.map(place.terminalOf))]
  const outcomes = terminals.map(ringBell)
  return outcomes.find(({ result }) => result === 'sent') ?? outcomes[0]!
}

const DESKTOP_TIMEOUT_MS = 5_000
const KEPT_OUTPUT = { head: 2_000, tail: 2_000 }

type Env = Record<string, string | undefined>

/** Shows a desktop notification by `notify-send` on Linux or `osascript` on macOS. */
export async function showOnDesktop(text: string, env: Env, system: string = platform()): Promise<SendOutcome> {
  const command = desktopCommand(text, system)
  const end = await runCommand({
    command,
    cwd: '/',
    env: withSessionBus(env),
    timeoutMs: DESKTOP_TIMEOUT_MS,
    keep: KEPT_OUTPUT,
  })
  if (end.exitCode === 0) return { result: 'sent' }
  // A missing program will not appear within the time of the retries.
  if (end.trouble?.includes('ENOENT') && command[0] === 'notify-send')
    return {
      result: 'failed',
      retryable: false,
      reason: 'notify-send is not installed; install the package libnotify-bin (Fedora, Arch: libnotify)',
    }
  if (end.trouble !== null)
    return { result: 'failed', retryable: false, reason: `${command[0]} could not be started: ${end.trouble}` }
  if (end.timedOut) return failed(`${command[0]} did not end within ${DESKTOP_TIMEOUT_MS / 1_000} s`)
  return failed(`${command[0]} exited with ${end.exitCode ?? end.endedBy}: ${end.stderr.trim().slice(0, 300)}`)
}

const failed = (reason: string): SendOutcome => ({ result: 'failed', retryable: true, reason })

/** Returns program and arguments. `--` ends the options, so that a text may begin with `-`. */
export function desktopCommand(text: string, system: string): [string, ...string[]] {
  if (system === 'darwin') {
    const script = ['on run argv', 'display notification (item 1 of argv) with title "Baton"', 'end run']
    return ['osascript', ...script.flatMap((line) => ['-e', line]), '--', text]
  }
  return ['notify-send', '--app-name=Baton', '--', 'Baton', escapeMarkup(text)]
}

/** Escapes markup in the notification's body, because folder names may contain its characters. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * Adds the address of the session bus.
 * A server started over SSH or by hand may lack it; systemd always uses the same path.
 */
function withSessionBus(env: Env): NodeJS.ProcessEnv {
  const bus = `/run/user/${process.getuid?.() ?? ''}/bus`
  return env.DBUS_SESSION_BUS_ADDRESS || !existsSync(bus)
    ? env
    : { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` }
}

/**
 * Writes BEL to a terminal.
 * The device must be a character device of this user.
 * The device is opened non-blocking and does not become the controlling terminal of this process.
 * In tmux the device is the pane, and tmux passes its bell on.
 * `terminal` is null when the session has none.
 */
function ringBell(terminal: string | null): SendOutcome {
  if (terminal === null) return { result: 'no-recipient', reason: 'the session has no terminal' }
  let device: number | null = null
  try {
    const { O_WRONLY, O_NOCTTY, O_NONBLOCK, O_NOFOLLOW } = constants
    device = openSync(terminal, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)
    const found = fstatSync(device)
    if (!found.isCharacterDevice() || found.uid !== process.getuid?.())
      return { result: 'no-recipient', reason: `${terminal} is not a terminal of this user` }
    writeSync(device, '\u0007')
    return { result: 'sent' }
  } catch (error) {
    return { result: 'no-recipient', reason: `${terminal} cannot be written to: ${reasonOf(error)}` }
  } finally {
    if (device !== null) closeSync(device)
  }
}

const COMMAND_TIMEOUT_MS = 30_000

/** A folder that only this user can write, and the environment without a client's variables. */
interface CommandPlace {
  cwd: string
  env: Record<string, string | undefined>
}

/**
 * Runs the user's shell command with the notice as JSON on its input.
 * After 30 s its whole process group is killed.
 */
async function runUserCommand(
  command: string,
  payload: NoticePayload,
  { cwd, env }: CommandPlace,
): Promise<SendOutcome> {
  const end = await runCommand({
    command,
    cwd,
    // A client started by the command must not cause another notice.
    env: { ...env, ...variables(payload), BATON_DISABLE: '1' },
    input: `${JSON.stringify(payload)}\n`,
    timeoutMs: COMMAND_TIMEOUT_MS,
    keep: KEPT_OUTPUT,
  })
  if (end.exitCode === 0) return { result: 'sent' }
  const failed = (reason: string): SendOutcome => ({ result: 'failed', retryable: true, reason })
  if (end.trouble !== null) return failed(`could not be started: ${end.trouble}`)
  if (end.timedOut) return failed(`did not end within ${COMMAND_TIMEOUT_MS / 1_000} s and was killed`)
  const complaint = end.stderr.trim().slice(-300)
  return failed(`exited with ${end.exitCode ?? end.endedBy}${complaint === '' ? '' : `: ${complaint}`}`)
}

function variables(payload: NoticePayload): Record<string, string> {
  return {
    BATON_NOTIFY_KIND: payload.kind,
    BATON_NOTIFY_TEXT: payload.text,
    BATON_NOTIFY_NAME: payload.name,
    BATON_NOTIFY_SESSION: payload.session_id ?? '',
    BATON_NOTIFY_SEAT: payload.seat_id ?? '',
    BATON_NOTIFY_JOB: payload.job_id ?? '',
    BATON_NOTIFY_PROJECT: payload.project ?? '',
  }
}

const WEB_TIMEOUT_MS = 10_000

function postWebhook(url: string, payload: NoticePayload): Promise<SendOutcome> {
  return send(url, JSON.stringify(payload), {})
}

/** Publishes to an ntfy topic: the text is the body, title, priority and tags are headers. */
function postNtfy(url: string, payload: NoticePayload): Promise<SendOutcome> {
  const { priority, tags } = NTFY[payload.kind]
  return send(url, payload.text, {
    'content-type': 'text/plain; charset=utf-8',
    title: encodedHeader(`Baton: ${payload.name}`),
    priority,
    tags,
  })
}

/**
 * Priority and tags by kind.
 * Events that wait for the user have a higher priority.
 * Tags are names of emoji that ntfy shows.
 */
const NTFY: Record<NoticePayload['kind'], { priority: string; tags: string }> = {
  level: { priority: '3', tags: 'hourglass' },
  review: { priority: '4', tags: 'memo' },
  permission: { priority: '4', tags: 'raised_hand' },
  job: { priority: '3', tags: 'checkered_flag' },
  limit: { priority: '3', tags: 'no_entry' },
  silence: { priority: '4', tags: 'mute' },
  test: { priority: '3', tags: 'bell' },
}

async function send(written: string, body: string, headers: Record<string, string>): Promise<SendOutcome> {
  const { url, authorization } = withoutCredentials(written)
  const auth: Record<string, string> = authorization === null ? {} : { authorization }
  try {
    const reply = await httpPost({
      url,
      method: 'POST',
      headers: { ...headers, ...auth },
      body,
      timeoutMs: WEB_TIMEOUT_MS,
    })
    const reason = refusalReason(reply)
    if (reason === null) return { result: 'sent' }
    return { result: 'failed', reason, retryable: reply.status === 408 || reply.status === 429 || reply.status >= 500 }
  } catch (error) {
    return { result: 'failed', reason: reasonOf(error), retryable: true }
  }
}

/** Splits the credentials from `https://user:password@host/…`, which fetch refuses. */
function withoutCredentials(written: string): { url: string; authorization: string | null } {
  const url = new URL(written)
  if (url.username === '' && url.password === '') return { url: written, authorization: null }
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  return { url: url.href, authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** Encodes a header. Headers are ASCII, and ntfy decodes RFC 2047. */
function encodedHeader(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

/** JSON for commands and webhooks. Keys may be added, never renamed. */
interface NoticePayload {
  notice_id: string
  kind: NoticeRecord['kind']
  /** A line for the user. Covers every notice when several are sent as one. */
  text: string
  name: string
  at: string
  session_id: string | null
  seat_id: string | null
  job_id: string | null
  project: string | null
  data: NoticeData
  /** The older notices that are sent with this one, newest first. Usually empty. */
  more: Omit<NoticePayload, 'more'>[]
}

/** Builds the payload from at least one notice, ordered oldest first. */
function payloadOf(notices: readonly NoticeRecord[], text: string): NoticePayload {
  const [newest, ...more] = notices.toReversed().map(withoutTarget)
  return { ...newest!, text, more }
}

const withoutTarget = (notice: NoticeRecord): Omit<NoticePayload, 'more'> => ({
  notice_id: notice.noticeId,
  kind: notice.kind,
  text: notice.text,
  name: notice.name,
  at: notice.at,
  session_id: notice.sessionId,
  seat_id: notice.seatId,
  job_id: notice.jobId,
  project: notice.subject.project,
  data: notice.data,
})
