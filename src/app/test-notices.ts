import { homedir } from 'node:os'
import { basename } from 'node:path'
import { withoutClientVariables } from '../agents/clients.js'
import { loadConfig } from '../config/load-config.js'
import { type NotifyEntry, notifyEntries } from '../config/notify-schema.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { describeTarget, type NoticeRecord } from '../contract/records/notice.js'
import { sendNotice } from '../delivery/notify/send-notice.js'
import type { App } from '../engine/open-engine.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { terminalOf } from '../lib/process-terminal.js'
import { sanitizeName } from '../lib/quote.js'
import type { SendOutcome } from '../policy/notice-schedule.js'
import { noticeLine } from '../policy/notice-text.js'

interface TestContext {
  cwd: string
  env: Record<string, string | undefined>
}

export interface TestedEntry {
  key: string
  from: string
  via: string
  target: string
  /** False only when the notice could not be sent. */
  ok: boolean
  /** True when there was no recipient, such as a bell without a terminal. */
  skipped: boolean
  detail: string
  duration_ms: number
}

/**
 * Returns the notify targets that apply in this folder.
 * Returns also the path of an untrusted project file whose entries are ignored.
 * Throws when the configuration is wrong.
 */
export function testEntries(
  { home }: App,
  { cwd, env }: TestContext,
): { entries: NotifyEntry[]; ignored: string | null } {
  const { config, problems, project } = loadConfig({ home, project: cwd, env })
  const [problem] = problems
  if (problem)
    throw new BatonError(
      `${problem.file}: ${problem.key === '' ? '' : `${problem.key}: `}${problem.reason}.`,
      'Run baton config check, which lists all errors.',
      EXIT.usage,
    )
  const entries = notifyEntries(config)
  const ignored = project?.ignored.some(({ key }) => key.endsWith('notify')) ? project.path : null
  return { entries, ignored }
}

/** Sends one notice through every target and stores the results. Throws when there is no target. */
export async function testNotices(
  app: App,
  context: TestContext,
  entries: readonly NotifyEntry[],
): Promise<TestedEntry[]> {
  if (entries.length === 0)
    throw new BatonError(
      'No notify target is configured for this folder.',
      "Add one: baton config set notify '[desktop]'. docs/guides/notify.md shows others.",
      EXIT.notFound,
    )
  return numbered(await Promise.all(entries.map((entry) => tryEntry(app, context, entry))))
}

async function tryEntry(app: App, { cwd, env }: TestContext, { key, from, target }: NotifyEntry): Promise<TestedEntry> {
  const { store, now, newId } = app
  const at = now().toISOString()
  const notice: NoticeRecord = {
    noticeId: `notice_${newId()}`,
    kind: 'test',
    state: 'sending',
    target,
    text: 'test notice of baton notify',
    name: sanitizeName(basename(cwd)) || 'baton',
    at,
    dueAt: null,
    claimedAt: at,
    tries: 1,
    crashed: false,
    trouble: null,
    subject: { agent: DEFAULT_AGENT, project: cwd, model: null, seat: null },
    sessionId: null,
    seatId: null,
    jobId: null,
    terminal: terminalOf(process.pid),
    data: {},
  }
  const startedMs = performance.now()
  const outcome = await sendNotice([notice], noticeLine([notice]), {
    cwd: env.HOME || homedir(),
    env: withoutClientVariables(env),
    terminalOf: ({ terminal }) => terminal,
  })
  // `doctor` reads the result of a test like that of any other notice.
  store.transaction(() => store.putNotice(resultOf(notice, outcome)))
  return {
    key,
    from,
    via: target.via,
    target: describeTarget(target),
    ok: outcome.result !== 'failed',
    skipped: outcome.result === 'no-recipient',
    detail: outcome.result === 'sent' ? 'sent' : outcome.reason,
    duration_ms: Math.round(performance.now() - startedMs),
  }
}

function resultOf(notice: NoticeRecord, outcome: SendOutcome): NoticeRecord {
  if (outcome.result === 'sent') return { ...notice, state: 'sent' }
  return { ...notice, state: outcome.result === 'failed' ? 'failed' : 'dropped', trouble: outcome.reason }
}

/** Adds a number to targets with the same name, such as two webhooks of one host. */
function numbered(tested: readonly TestedEntry[]): TestedEntry[] {
  return tested.map((one, index) => {
    const isSame = ({ target }: TestedEntry): boolean => target === one.target
    if (tested.filter(isSame).length === 1) return one
    return { ...one, target: `${one.target} (${tested.slice(0, index + 1).filter(isSame).length})` }
  })
}
