import type { Action, Position } from '../level.js'
import type { Usage } from '../reading.js'

/**
 * The states of a job, explained where they are judged (`jobs/job.ts`). Each is stored before anything is done about it.
 *
 * pending      it waits for its turn: as many jobs as may run are running
 * running      one of its sessions works
 * handing-off  its session was stopped at a full batch; the brief is asked for, checked and kept, then a fresh session begins
 * waiting      for a limit of the plan to be reset, or for a person to look at a brief
 * paused       stopped by a person, or by Baton's own end; `jobs resume` goes on
 * completed · failed · cancelled
 */
export const JOB_STATES = [
  'pending',
  'running',
  'handing-off',
  'waiting',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const
export type JobState = (typeof JOB_STATES)[number]

/**
 * Why it stopped. `success` only where the agent said it is done and every check passed; `refused` where it said
 * so and the
 * permission mode had denied every edit it tried.
 */
export const EXIT_REASONS = [
  'success',
  'error',
  'timeout',
  'cancelled',
  'max_turns',
  'max_budget',
  'max_handoffs',
  'stalled',
  'refused',
] as const
export type ExitReason = (typeof EXIT_REASONS)[number]

/** The modes of Claude Code 2.1.325, which prints all but `default` in its help. */
export const PERMISSION_MODES = [
  'default',
  'manual',
  'acceptEdits',
  'plan',
  'dontAsk',
  'auto',
  'bypassPermissions',
] as const

export const RUNTIMES = ['cli', 'sdk', 'scripted'] as const
export type RuntimeName = (typeof RUNTIMES)[number]

export interface JobBudgets {
  usd: number | null
  tokens: number | null
  turns: number | null
  minutes: number | null
}

/** A command Baton runs itself before it believes that the job is done. */
export interface CheckSpec {
  name: string
  command: string
  timeoutMs: number
}

export type HookEvent = 'completed' | 'failed' | 'timeout' | 'cancelled' | 'context_threshold' | 'session_start'

interface HookBase {
  name: string | null
  /** null: every event of the list it stands in. */
  onEvents: HookEvent[] | null
  /** A dot path in the payload that must be true; null: always. */
  when: string | null
  continueOnError: boolean
  timeoutMs: number
}

interface ChatHook extends HookBase {
  channelId: string
  botTokenEnv: string | null
  baseUrl: string | null
  username: string | null
}

/** Secrets are named (`${NAME}`, `botTokenEnv`), never held: they are looked up in the environment when the hook runs. */
export type HookSpec =
  | (HookBase & { type: 'shell'; command: string })
  | (HookBase & { type: 'webhook'; url: string; method: 'POST' | 'PUT'; headers: Record<string, string> })
  | (ChatHook & { type: 'slack'; iconEmoji: string | null })
  | (ChatHook & { type: 'discord'; avatarUrl: string | null })

export interface JobHooks {
  onContextThreshold: HookSpec[]
  onSessionStart: HookSpec[]
  afterRun: HookSpec[]
  onError: HookSpec[]
}

/** A level of an agent's own: judged by whoever runs its jobs, beside those of the file, which are noted for every session. */
export interface JobLevel {
  name: string
  at: Position
  actions: Action[]
  /** What `hook:` and `webhook:` among them mean. */
  hooks: HookSpec[]
}

export interface WorkspaceSpec {
  strategy: 'none' | 'git_worktree'
  /** Below the repository unless absolute. */
  worktreeDir: string
  /** With `{agent}`, `{job}` and `{workItem}`. */
  branchPattern: string
  /** null: what the repository's HEAD is on. */
  baseBranch: string | null
  pushOnSuccess: boolean
  createPr: boolean
  /** A worktree without changes and without commits of its own is removed at the end, with its branch. */
  removeClean: boolean
}

/** The session that a job begins with, and how long one session may work. */
export interface SessionSpec {
  mode: 'fresh_per_job' | 'persistent'
  /** A persistent session expires this long after its last use. */
  expiresMs: number
  /** A session that has worked this long hands off; null: no bound. */
  maxMs: number | null
  /** The session that the user named for the job; null: none. */
  resume: string | null
  /** Folder of the `baton.yaml` that defines the agent; null: there is no such file. */
  project: string | null
}

/** What a job is to do and may do: resolved once, stored with it, and never looked up again while it runs. */
export interface JobSpec {
  /** The agent's name in `baton.yaml`; null: a prompt alone. */
  agentName: string | null
  /** The program: `claude-code`. */
  agent: string
  prompt: string
  workItem: string | null
  model: string | null
  permissionMode: string | null
  allowedTools: string[] | null
  disallowedTools: string[] | null
  appendSystemPrompt: string | null
  runtime: RuntimeName
  /** Where it was asked for: the repository, or any folder. */
  folder: string
  workspace: WorkspaceSpec
  /** The part of the way to the compaction point that is left when the session is handed over. */
  handoffAtRemaining: number
  /** 0: it is left to compact. */
  maxHandoffs: number
  afterMaxHandoffs: 'compact' | 'stop'
  /** Absent in jobs of earlier versions: a fresh first session, and no bound on its duration. */
  session?: SessionSpec
  /** Without a word of the client for so long, it is taken to be stuck. */
  silenceMs: number
  /** What the agent left running in the background when it said that it is done is waited for so long, then ended. Jobs of old lack it. */
  backgroundMs?: number
  checks: CheckSpec[]
  /** How often failed checks go back to the agent. */
  checkRounds: number
  budgets: JobBudgets
  hooks: JobHooks
  /** Jobs of old lack them. */
  levels?: JobLevel[]
  /**
   * Tokens at which a session in a large window is handed off, from the level of the file that asks
   * for it (`85% or 300k`). Null when the agent names a threshold of its own, or no level has a cap;
   * absent in jobs of earlier versions.
   */
  handoffCap?: number | null
  /** Of an agent's `env`: names and values that are no secrets. */
  env: Record<string, string>
}

export interface WorkspaceState {
  /** Where the agent works. */
  folder: string
  /** null: no worktree. */
  worktree: {
    path: string
    branch: string
    base: string
    repository: string
    /** Both were taken down, with nothing of their own in them: if the job goes on it gets others. */
    dropped?: boolean
  } | null
}

/** What an attempt was begun with. */
export type AttemptStart = 'fresh' | 'resume' | 'brief'

/** One session of a job. */
export interface AttemptRecord {
  attemptId: string
  jobId: string
  /** Minted by Baton before the client starts. */
  sessionId: string
  /** From 1. */
  number: number
  start: AttemptStart
  /** The brief it began with; null: none. */
  briefId: string | null
  /** How far it has come; each stored before it is done. `ready`: its client waits while the brief is checked, and knows of nothing. */
  state: 'ready' | 'starting' | 'prompted' | 'working' | 'stopped' | 'asked' | 'over'
  /** The client; null: none was started yet, or it is gone. */
  process: { pid: number; startedAt: string } | null
  startedAt: string
  endedAt: string | null
  /** The client's own word for the end; null: it was killed, or works still. */
  terminal: string | null
  usedTokens: number | null
  windowTokens: number | null
  pointTokens: number | null
  turns: number
  spend: Usage
  costUsd: number | null
  compactions: number
  /** Calls that the client refused, because nobody could be asked. */
  refused?: number
  /** Levels of the agent that it has been at since its last reset; absent: none. */
  crossed?: string[]
  /** How much its last batches added since its last reset, newest last: who resumes it knows how large a step is. Absent: nothing was added. */
  growth?: readonly number[]
  /** How long the session has worked, in every job it served; absent: nothing was measured yet. */
  workedMs?: number
  /** The spend of the session before this job continued it; absent: it began in this job. */
  carried?: { spend: Usage; costUsd: number | null }
}

export interface CheckResult {
  name: string
  command: string
  /** 1 for the first time they are run. */
  round: number
  ok: boolean
  /** null: it was ended. */
  exitCode: number | null
  timedOut: boolean
  durationMs: number
  /** The end of what it printed; the whole lies in `outputPath`. */
  tail: string
  outputPath: string
}

/** A request or a session that failed and is tried again. */
export interface JobRetry {
  /** The failure, in words for people. */
  reason: string
  /** The next attempt, from 1. */
  attempt: number
  /** How many there are; null: not known. */
  most: number | null
  /** When it is made. */
  until: string
}

/** Everything the store keeps of one job. */
export interface JobRecord {
  jobId: string
  seatId: string
  parentSeatId: string | null
  spec: JobSpec
  state: JobState
  stateAt: string
  exitReason: ExitReason | null
  /** What a person is told about the present state; '' nothing. */
  detail: string
  /**
   * What whoever runs it was asked for and has not done yet. `leave`: the machine or its terminal goes. That is no wish about the job: it is
   * paused, and goes on with whoever looks for jobs that lost their runner.
   */
  wanted: 'leave' | 'pause' | 'cancel' | null
  /** The level that wanted the pause; null or absent: a person did. */
  wantedBy?: string | null
  /** Whoever runs it now; null: nobody. */
  runner: { pid: number; startedAt: string } | null
  workspace: WorkspaceState | null
  /** The session at work, or the last one. */
  sessionId: string | null
  handoffs: number
  compactions: number
  /**
   * Calls that change files: how many returned well, and how many the permission mode denied. `before`: how many
   * it had denied when
   * the job ended as `refused`, of a job that was resumed after that. Absent: none of either.
   */
  edits?: { made: number; denied: number; before?: number }
  /** In a row, each kind apart: failures that are tried again, clients that hung, limits that were waited out. Rows of old lack the last two. */
  failures: number
  stalls?: number
  waits?: number
  checkRound: number
  checks: CheckResult[]
  /** Until when it waits; null: it does not, or nobody knows. */
  waitUntil: string | null
  /** The failure after which the client or the job tries again; absent or null: none. */
  retry?: JobRetry | null
  createdAt: string
  startedAt: string | null
  endedAt: string | null
  /** Time it really ran, for budgets: waiting and pauses do not count. */
  ranMs: number
  /** The agent's last words. */
  result: string | null
  /** How it ends: stored before its worktree, its branch and its processes are seen to, so that whoever comes after a kill does the same. */
  ending?: Pick<JobRecord, 'state' | 'exitReason' | 'detail'> | null
  /** It has ended, and the hooks of its end have not: what they are told of its worktree. */
  hooksDue?: { kept: boolean; pullRequest: string | null } | null
}
