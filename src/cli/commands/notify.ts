import { homedir } from 'node:os'
import { basename } from 'node:path'
import { withoutClient } from '../../agents/clients.js'
import { withOpenApp } from '../../app/open-app.js'
import { loadConfig } from '../../config/load-config.js'
import type { NotifyEntry } from '../../config/notify-schema.js'
import { notifyEntries } from '../../config/notify-schema.js'
import { DEFAULT_AGENT } from '../../contract/agent-ids.js'
import { describeTarget, type NoticeRecord } from '../../contract/records/notice.js'
import { sendNotice } from '../../delivery/notify/send-notice.js'
import type { App } from '../../engine/open-engine.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { sanitizeName } from '../../lib/quote.js'
import { replaceControls } from '../../lib/shown-text.js'
import { terminalOf } from '../../lib/terminal-of.js'
import type { SendOutcome } from '../../policy/notice-schedule.js'
import { sentText } from '../../policy/notice-text.js'
import type { Call, Cli, Command } from '../command.js'
import { wrap } from '../render/text.js'

export const command: Command = {
  name: 'notify',
  summary: 'send a test notice through every configured notify target',
  usage: ['test'],
  about:
    'The key notify of the configuration tells you outside the client that a level was reached, a brief waits for your review, the ' +
    'client waits for your permission, a job has ended, a usage limit was reached or has reset, or no readings arrive. ' +
    'test sends one notice through every entry of your file and of this project, whatever its events and at_most_every, and says ' +
    'what happened; it ends with 1 if one failed (a bell without a terminal is skipped), with 3 if none is configured.',
  options: {},
  actions: ['test'],
  words: { min: 1, max: 1 },
  examples: [
    ["baton config set notify '[{via: ntfy, url: https://ntfy.sh/my-topic}]'", 'tell my phone'],
    ['baton notify test', 'does it arrive?'],
    ['baton notify test --json', 'for a script'],
  ],
  json: '{ok, entries: [{key, from, via, target, ok, skipped, detail, duration_ms}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  return sendTest(call, cli)
}

interface Tested {
  key: string
  from: string
  via: string
  target: string
  /** False only when it failed. */
  ok: boolean
  /** True: there was nobody to tell, such as a bell without a terminal. */
  skipped: boolean
  detail: string
  duration_ms: number
}

/** `baton notify test`: sends one notice through every configured entry. */
function sendTest(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, async (app) => {
    const entries = entriesHere(app, cli)
    const tested = numbered(await Promise.all(entries.map((entry) => tryEntry(app, cli, entry))))
    const ok = tested.every((one) => one.ok)
    cli.print(call.json ? JSON.stringify({ ok, entries: tested }) : tested.flatMap((one) => line(one, cli)).join('\n'))
    return ok ? EXIT.done : EXIT.failed
  })
}

/** Throws when the configuration is wrong, or names no notify target. */
function entriesHere({ home }: App, cli: Cli): NotifyEntry[] {
  const { config, problems, project } = loadConfig({ home, project: cli.cwd, env: cli.env })
  const [problem] = problems
  if (problem)
    throw new BatonError(
      `${problem.file}: ${problem.key === '' ? '' : `${problem.key}: `}${problem.reason}.`,
      'baton config check names everything that is wrong.',
      EXIT.usage,
    )
  if (project?.ignored.some(({ key }) => key.endsWith('notify')))
    cli.note(`${sanitizeName(project.path)} is not trusted: its entries are not used (see baton trust).`)
  const entries = notifyEntries(config)
  if (entries.length > 0) return entries
  throw new BatonError(
    'No notify target is configured for this folder.',
    "Add one: baton config set notify '[desktop]'. docs/notify.md shows others.",
    EXIT.notFound,
  )
}

async function tryEntry(app: App, cli: Cli, { key, from, target }: NotifyEntry): Promise<Tested> {
  const { store, now, newId } = app
  const at = now().toISOString()
  const notice: NoticeRecord = {
    noticeId: `notice_${newId()}`,
    kind: 'test',
    state: 'sending',
    target,
    text: 'test notice of baton notify',
    name: sanitizeName(basename(cli.cwd)) || 'baton',
    at,
    dueAt: null,
    claimedAt: at,
    tries: 1,
    crashed: false,
    trouble: null,
    subject: { agent: DEFAULT_AGENT, project: cli.cwd, model: null, seat: null },
    sessionId: null,
    seatId: null,
    jobId: null,
    terminal: terminalOf(process.pid),
    data: {},
  }
  const begun = performance.now()
  const outcome = await sendNotice([notice], sentText([notice]), {
    cwd: cli.env.HOME || homedir(),
    env: withoutClient(cli.env),
    terminalOf: ({ terminal }) => terminal,
  })
  // The result counts for `doctor` as that of any other notice.
  store.transaction(() => store.putNotice(resultOf(notice, outcome)))
  return {
    key,
    from,
    via: target.via,
    target: describeTarget(target),
    ok: outcome.result !== 'failed',
    skipped: outcome.result === 'no-recipient',
    detail: outcome.result === 'sent' ? 'sent' : outcome.reason,
    duration_ms: Math.round(performance.now() - begun),
  }
}

function resultOf(notice: NoticeRecord, outcome: SendOutcome): NoticeRecord {
  if (outcome.result === 'sent') return { ...notice, state: 'sent' }
  return { ...notice, state: outcome.result === 'failed' ? 'failed' : 'dropped', trouble: outcome.reason }
}

/** Adds a number to targets that look the same, such as two webhooks of one host. */
function numbered(tested: readonly Tested[]): Tested[] {
  return tested.map((one, index) => {
    const isSame = ({ target }: Tested): boolean => target === one.target
    if (tested.filter(isSame).length === 1) return one
    return { ...one, target: `${one.target} (${tested.slice(0, index + 1).filter(isSame).length})` }
  })
}

function line({ key, from, target, ok, skipped, detail, duration_ms }: Tested, { screen }: Cli): string[] {
  const { paint, columns } = screen
  const mark = skipped ? paint('–', 'dim') : ok ? paint('✓', 'green') : paint('✗', 'red')
  const result = skipped
    ? `skipped: ${replaceControls(detail)}`
    : ok
      ? `sent in ${duration_ms} ms`
      : `failed: ${replaceControls(detail)}`
  return wrap(
    `${mark} ${key} ${paint(`(${replaceControls(from)})`, 'dim')} ${replaceControls(target)}: ${result}`,
    columns,
    2,
  )
}
