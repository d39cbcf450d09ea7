import type { Limits } from '../../contract/reading.js'
import type { Observation, RawSignal, Signal, TranscriptEvent } from '../../contract/signal.js'
import { gitFolderOf, readHead } from '../../lib/git-folder.js'
import { isAlive, processInfo, processOfThisUser } from '../../lib/process-info.js'
import { makeTimedCache } from '../../lib/timed-cache.js'
import type { Agent, KnownSession } from '../agent.js'
import {
  blockingAnswer,
  continueTurnAnswer,
  hookAnswer,
  recipientsOfAnswer,
  summaryInstructionsAnswer,
  transcriptContains,
} from './answer.js'
import { type ClientArguments, readClientArguments } from './command-line.js'
import { SIGNAL_VARIABLES } from './environment.js'
import { deriveLimits, type LimitsInput } from './limits.js'
import {
  isPluginModuleGone,
  type LiveReport,
  liveReportFile,
  markPluginModuleGone,
  readLiveReport,
  reportsSeenOrders,
} from './live.js'
import { readCompactionNote } from './live-summary.js'
import { modelFamilyOf, requestsLargeWindow } from './models.js'
import { batchAfter, decodeSignal } from './open.js'
import {
  dropTypedHandoffRequest,
  isOrderStored,
  readOrderAnswer,
  readOrderHindrance,
  readTypedHandoffRequest,
  withdrawOrder,
  writeOrder,
} from './orders.js'
import { TOOL_CALLS_PREFIX } from './payload.js'
import { clientRegistryOf } from './registry.js'
import {
  type ClientSettings,
  configDirFromEnvironment,
  configDirOfTranscript,
  readSettings,
} from './settings/read-settings.js'
import { observeSubagents, subagentTranscripts } from './subagents.js'
import { emptyTranscriptRead, readTranscript } from './transcript.js'
import { isTranscriptSettled } from './transcript-settled.js'
import {
  deliveredByWaitingHook,
  removeOldWaitingHookFiles,
  sendToWaitingHook,
  waitingHookState,
  withdrawFromWaitingHook,
} from './waiter.js'

export const claudeCode: Agent = {
  id: 'claude-code',
  environment: SIGNAL_VARIABLES,
  unread: { event: 'PostToolBatch', behind: TOOL_CALLS_PREFIX },
  open: decodeSignal,
  reports: { file: liveReportFile, batch: batchAfter },
  observe,
  answer: hookAnswer,
  carries: recipientsOfAnswer,
  instruct: summaryInstructionsAnswer,
  insist: continueTurnAnswer,
  block: blockingAnswer,
  order: writeOrder,
  hasOrder: isOrderStored,
  withdraw: withdrawOrder,
  orderAnswer: readOrderAnswer,
  hindrance: readOrderHindrance,
  tellsHindrance: reportsSeenOrders,
  giveUpOn: markPluginModuleGone,
  takesOrders: (liveDir, sessionId, { pid }) =>
    readLiveReport(liveDir, sessionId, processInfo(pid)?.startedAtMs ?? null) !== null,
  hasLostMod: isPluginModuleGone,
  waiter: {
    of: waitingHookState,
    say: sendToWaitingHook,
    unsay: withdrawFromWaitingHook,
    said: deliveredByWaitingHook,
    tidy: removeOldWaitingHookFiles,
  },
  readRequest: readTypedHandoffRequest,
  dropRequest: dropTypedHandoffRequest,
  subagentTranscripts,
  carriers: ['PostToolBatch', 'UserPromptSubmit', 'SessionStart'],
  turnEnds: ['Stop'],
  jobEvents: { start: 'SessionStart', end: 'SessionEnd' },
  jobEnvironment: (process) => ({
    ...(process ? { CLAUDE_PID: String(process.pid) } : {}),
    // Report the job as an SDK program, because others may hear of its compactions.
    CLAUDE_CODE_ENTRYPOINT: 'sdk-baton',
    CLAUDE_CODE_SESSION_ATTENDED: '0',
  }),
  transcriptContains,
  registry: clientRegistryOf,
  continuesAfterLimit: ({ transcriptPath, project }) =>
    readSettings({ configDir: configDirOfTranscript(transcriptPath), project, cwd: project }).autoContinue ?? null,
  alive: isAlive,
}

function observe(signal: Signal, raw: RawSignal, known: KnownSession): Observation {
  const info = signal.pid === null ? null : processOfThisUser(signal.pid)
  const process = info === null ? null : { pid: info.pid, startedAt: info.startedAt }
  const args = readClientArguments(process)
  const from = known.cursor
  const forks = signal.start?.source === 'fork'
  const forkedAt = (args.fork ? info?.startedAtMs : null) ?? (forks ? signal.at : null)
  // A fork's transcript begins with lines of its own. A copy of its parent's transcript follows.
  const unread = from?.answerId === undefined
  const read =
    signal.transcriptPath === null
      ? emptyTranscriptRead()
      : readTranscript(signal.transcriptPath, from, { chain: 'main', spentSince: unread ? forkedAt : null })
  const answered = read.observed.findLast((found) => found.type === 'answer')?.reading.model ?? null
  const live = readLiveReport(known.liveDir, signal.sessionId, info?.startedAtMs ?? null)
  const input = limitsInput(signal, raw, known, args, live, answered)
  const limits = deriveLimits(input)
  return {
    observed: read.observed.map((found) => (isOverflow(found, limits) ? { ...found, overflow: true } : found)),
    cursor: read.cursor,
    from,
    settled: isTranscriptSettled(signal, from?.offset ?? null, read.cursor?.calls, read.cursor?.offset),
    spend: read.spend,
    live: live?.reading ?? null,
    takesOrders: live !== null,
    liveCostUsd: live?.costUsd ?? null,
    // A transcript that is read for the first time only tells about the past.
    gaveUp: from !== null && from.path === signal.transcriptPath ? read.gaveUp : null,
    mayBeForbidden: mayBeForbidden(input.settings, raw.env.CLAUDE_CODE_ENTRYPOINT),
    summary: justReported(signal, known),
    limits,
    // Status lines are too frequent to read the branch again, which hooks have read.
    branch: read.branch ?? (signal.kind === 'status-line' ? null : readBranch(signal.cwd)),
    title: read.title,
    subagents: observeSubagents(signal, known.subagentCursors, (model) => subagentLimits(input, model)),
    process,
    // The command line describes only the first session of the process, not later ones.
    forkedFrom: read.copiedFrom ?? (forks && args.fork ? (args.resume ?? null) : null),
  }
}

/**
 * Returns whether another hook may block a compaction.
 * Hooks in settings are counted; those of plugins and SDK programs cannot be seen.
 */
function mayBeForbidden({ askedToCompact = 0, plugins }: ClientSettings, entrypoint = ''): boolean {
  return askedToCompact > 1 || plugins === true || (entrypoint.startsWith('sdk-') && entrypoint !== 'sdk-cli')
}

/** Tolerance when times of the client and of Baton are compared. Both read the same clock. */
const SLACK_MS = 2_000

function justReported(signal: Signal, { compactingSince, liveDir }: KnownSession): string | null {
  if (signal.start?.source !== 'compact' || typeof compactingSince !== 'number') return null
  return readCompactionNote(liveDir, signal.sessionId, compactingSince - SLACK_MS)?.summary ?? null
}

/**
 * Returns whether a compaction happened because the API refused a prompt as too long.
 * The transcript does not record the refusal, but a reactive model compacts only then.
 */
function isOverflow(found: TranscriptEvent, limits: Limits): found is TranscriptEvent & { type: 'compaction' } {
  return found.type === 'compaction' && found.trigger === 'auto' && limits.mode === 'reactive'
}

function limitsInput(
  signal: Signal,
  raw: RawSignal,
  known: KnownSession,
  args: ClientArguments,
  live: LiveReport | null,
  answered: string | null,
): LimitsInput & { settings: ClientSettings } {
  const project = signal.project ?? signal.cwd
  const settings = readSettings({
    configDir: configDirFromEnvironment(raw.env),
    project,
    flag: args.settings,
    sources: args.settingSources,
    cwd: signal.cwd,
  })
  const env = isEmpty(settings.env) ? raw.env : { ...settings.env, ...raw.env }
  const models = [signal.model, live?.model, known.model, args.model, env.ANTHROPIC_MODEL, settings.model]
  const current = signal.model ?? answered ?? known.model
  // The window from an earlier status line applies only to the model it was reported for.
  const kept =
    known.model !== null && current !== null && modelFamilyOf(known.model) === modelFamilyOf(current)
      ? known.window
      : null
  return {
    models,
    answered: signal.kind === 'status-line' ? null : answered,
    window: signal.window ?? kept,
    env,
    settings,
    args,
    told: live !== null && !isOutdated(live, signal, known) ? live.told : null,
  }
}

function isEmpty(fields: object): boolean {
  for (const _ in fields) return false
  return true
}

/**
 * Returns whether a live report was written before the user switched the model.
 * The plugin module learns of a switch only with the next turn, the status line earlier.
 * A processed report about another model than the known one was written before the switch.
 */
function isOutdated(live: LiveReport, signal: Signal, known: KnownSession): boolean {
  const seen =
    typeof known.liveStamp === 'number' && live.reading.stamp !== null && live.reading.stamp <= known.liveStamp
  const now = signal.kind === 'status-line' ? signal.model : seen ? known.model : null
  if (now === null || live.model === null) return false
  return (
    modelFamilyOf(now) !== modelFamilyOf(live.model) ||
    (signal.kind === 'status-line' && requestsLargeWindow(now) !== requestsLargeWindow(live.model))
  )
}

/**
 * Derives a subagent's limits, which the client does not report.
 * With its parent's model a subagent has the parent's window. Otherwise the model's name decides.
 */
function subagentLimits(parent: LimitsInput, model: string | null): ReturnType<typeof deriveLimits> {
  const own = parent.models.find((name) => typeof name === 'string' && name !== '')
  const same = model !== null && own !== undefined && own !== null && modelFamilyOf(own) === modelFamilyOf(model)
  return deriveLimits({
    ...parent,
    answered: model,
    models: model === null ? [] : parent.models,
    told: null,
    window: same ? parent.window : null,
  })
}

/**
 * Returns the branch checked out in the session's folder.
 * Null outside a repository, on a detached head, and in another user's repository.
 * Reads files only and starts no process.
 */
export function readBranch(cwd: string | null): string | null {
  return cwd === null ? null : remembered(cwd, () => findBranch(cwd))
}

const remembered = makeTimedCache<string | null>(1000, 1024)

function findBranch(cwd: string): string | null {
  const repository = gitFolderOf(cwd)
  if (!repository?.isOwn) return null
  return /^ref: refs\/heads\/(.+)$/m.exec(readHead(repository) ?? '')?.[1] ?? null
}
