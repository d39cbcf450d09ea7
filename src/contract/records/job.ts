import type { LevelAction, Position } from '../level.js'
import type { Usage } from '../reading.js'

/**
 * The states of a job. `jobs/job.ts` decides the transitions; each is stored before it is acted on.
 *
 * pending      waits for a free slot, because as many jobs as allowed are running
 * running      one of its sessions works
 * handing-off  its session was stopped, and a brief for a fresh session is being written
 * waiting      until a usage limit of the plan is reset, or a user has reviewed a brief
 * paused       stopped by a user, or because Baton ended; `jobs resume` continues it
 * completed    done, and every check passed
 * failed       ended without success; `exitReason` says why
 * cancelled    ended by a user
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
 * Why a job ended.
 * success: the agent reported the end of its work and every check passed.
 * refused: the agent reported that, but the permission mode had denied every edit it tried.
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

/** The permission modes of Claude Code 2.1.325. Its help lists all of them except `default`. */
export const PERMISSION_MODES = [
  'default',
  'manual',
  'acceptEdits',
  'plan',
  'dontAsk',
  'auto',
  'bypassPermissions',
] as const

/** How a job runs its client. `scripted` plays a list of steps in Baton's own process. */
export const RUNTIMES = ['cli', 'sdk', 'scripted'] as const
export type RuntimeName = (typeof RUNTIMES)[number]

/** Limits of a job's spend. Null for no limit. */
export interface JobBudgets {
  usd: number | null
  tokens: number | null
  turns: number | null
  minutes: number | null
}

/** A command that Baton runs before it accepts that the job is done. */
export interface CheckSpec {
  name: string
  command: string
  timeoutMs: number
}

/** Events that a hook of a job may react to. */
export type HookEvent = 'completed' | 'failed' | 'timeout' | 'cancelled' | 'context_threshold' | 'session_start'

/** Fields that every hook of a job has. */
interface HookBase {
  /** Name for logs. Null when the hook has none. */
  name: string | null
  /** Events at which the hook runs. Null when it runs for every event of its list. */
  onEvents: HookEvent[] | null
  /** Dot path in the payload that must be true. Null when the hook always runs. */
  when: string | null
  continueOnError: boolean
  timeoutMs: number
}

/** Fields of a job's hooks that post to a chat. */
interface ChatHook extends HookBase {
  /** Channel of the chat to post to. */
  channelId: string
  /** Name of the environment variable with the bot's token. Null for the default name. */
  botTokenEnv: string | null
  /** Address of the chat service. Null for the public one. */
  baseUrl: string | null
  /** Name under which to post. Null for the bot's own. */
  username: string | null
}

/**
 * A hook of a job.
 * The hook names its secrets (`${NAME}`, `botTokenEnv`) and never contains them.
 * The secrets are read from the environment when the hook runs.
 */
export type HookSpec =
  | (HookBase & { type: 'shell'; command: string })
  | (HookBase & { type: 'webhook'; url: string; method: 'POST' | 'PUT'; headers: Record<string, string> })
  | (ChatHook & { type: 'slack'; iconEmoji: string | null })
  | (ChatHook & { type: 'discord'; avatarUrl: string | null })

/** The hooks of a job, by the moment at which they run. */
export interface JobHooks {
  onContextThreshold: HookSpec[]
  onSessionStart: HookSpec[]
  afterRun: HookSpec[]
  onError: HookSpec[]
}

/**
 * A level (warning threshold) that an agent defines for its own jobs.
 * The job's runner evaluates it.
 * Levels of the configuration file are evaluated for every session as well.
 */
export interface JobLevel {
  name: string
  at: Position
  actions: LevelAction[]
  /** The hooks that `hook:` and `webhook:` actions refer to. */
  hooks: HookSpec[]
}

/** The place where a job works: its folder, or a git worktree of its own. */
export interface WorkspaceSpec {
  strategy: 'none' | 'git_worktree'
  /** Folder for worktrees, relative to the repository unless absolute. */
  worktreeDir: string
  /** Pattern for the branch name. May contain `{agent}`, `{job}` and `{workItem}`. */
  branchPattern: string
  /** Branch to start from. Null for the branch that the repository's HEAD is on. */
  baseBranch: string | null
  pushOnSuccess: boolean
  createPr: boolean
  /** Removes worktree and branch at the end if they have no changes and no commits of their own. */
  removeClean: boolean
}

/** The first session of a job, and how long one session may work. */
interface SessionSpec {
  mode: 'fresh_per_job' | 'persistent'
  /** A persistent session expires this long after its last use. */
  expiresMs: number
  /** A session hands off after working this long. Null when there is no limit. */
  maxMs: number | null
  /** The session that the user named for the job. Null when none was named. */
  resume: string | null
  /** Folder of the `baton.yaml` that defines the agent. Null when there is no such file. */
  project: string | null
}

/** The task and limits of a job, resolved once at its start and stored with it. */
export interface JobSpec {
  /** Name of the agent in `baton.yaml`. Null for a job from a prompt alone. */
  agentName: string | null
  /** Id of the program, such as `claude-code`. */
  agent: string
  prompt: string
  /** Ticket or other name of the work. Null when none was given. */
  workItem: string | null
  /** Model to use. Null for the client's default. The same holds for the next four fields. */
  model: string | null
  permissionMode: string | null
  allowedTools: string[] | null
  disallowedTools: string[] | null
  appendSystemPrompt: string | null
  runtime: RuntimeName
  /** Folder in which the job was requested: a repository or any other folder. */
  folder: string
  workspace: WorkspaceSpec
  /** Share of the tokens up to compaction that must remain when the session hands off. */
  handoffAtRemaining: number
  /** Maximum number of handoffs. 0: the session is never handed off and may compact. */
  maxHandoffs: number
  afterMaxHandoffs: 'compact' | 'stop'
  /**
   * Settings of the first session.
   * Absent in jobs of earlier versions: their first session is fresh and has no time limit.
   */
  session?: SessionSpec
  /** A client that writes nothing for this long counts as hung. */
  silenceMs: number
  /**
   * How long to wait for background tasks after the agent reported the end of its work.
   * The tasks are killed afterwards. Absent in jobs of earlier versions.
   */
  backgroundMs?: number
  checks: CheckSpec[]
  /** How often the output of failed checks is sent back to the agent. */
  checkRounds: number
  budgets: JobBudgets
  hooks: JobHooks
  /** Levels (warning thresholds) of the job's agent. Absent in jobs of earlier versions. */
  levels?: JobLevel[]
  /**
   * Tokens at which a session in a large window hands off, from a level such as `85% or 300k`.
   * Null when the agent has a threshold of its own, or no level has a token limit.
   * Absent in jobs of earlier versions.
   */
  handoffCap?: number | null
  /** Environment variables of the agent that are no secrets. */
  env: Record<string, string>
}

/** The folders of a job that is set up. */
export interface WorkspaceState {
  /** The folder in which the agent works. */
  folder: string
  /** The job's worktree. Null when it has none. */
  worktree: {
    path: string
    branch: string
    base: string
    repository: string
    /**
     * True when the worktree and its branch were removed because they were empty.
     * A resumed job then gets a new worktree and branch.
     */
    dropped?: boolean
  } | null
}

/** How an attempt (session of a job) began: a new session, an existing one, or one with a brief. */
export type AttemptStart = 'fresh' | 'resume' | 'brief'

/** A session of a job. */
export interface AttemptRecord {
  attemptId: string
  jobId: string
  /** Id of the session, generated by Baton before the client starts. */
  sessionId: string
  /** Number of the attempt in its job, counted from 1. */
  number: number
  start: AttemptStart
  /** The brief that the attempt began with. Null when there was none. */
  briefId: string | null
  /**
   * Progress of the attempt. Each state is stored before its action.
   * `ready`: the client waits for the check of the brief and has received no prompt.
   */
  state: 'ready' | 'starting' | 'prompted' | 'working' | 'stopped' | 'asked' | 'over'
  /** The client's process. Null when it was not started yet, or has ended. */
  process: { pid: number; startedAt: string } | null
  startedAt: string
  /** When the attempt ended. Null while it runs. */
  endedAt: string | null
  /** The client's own name for how it ended. Null when it was killed or still works. */
  terminal: string | null
  /** Tokens used and other readings of the attempt's session. Null when unknown. */
  usedTokens: number | null
  windowTokens: number | null
  pointTokens: number | null
  turns: number
  spend: Usage
  /** Cost that the client reports. Null when it reports none. */
  costUsd: number | null
  compactions: number
  /** Tool calls that the client denied because no user could be asked. */
  refused?: number
  /** Levels of the agent that were crossed since the last compaction. Absent when none was. */
  crossed?: string[]
  /**
   * Tokens that the last batches added since the last compaction, newest last.
   * A resumed attempt uses these as step sizes. Absent when nothing was added.
   */
  growth?: readonly number[]
  /**
   * How long the session has worked, over all jobs that used the session.
   * Absent before the first measurement.
   */
  workedMs?: number
  /**
   * Spend of the session before this job continued the session.
   * Absent when the session began in this job.
   */
  carried?: { spend: Usage; costUsd: number | null }
  /**
   * True from `handoff_started` until the event that ends the handoff.
   * A handoff that is paused or killed continues without a second `handoff_started`.
   */
  handoffOpen?: boolean
}

/** The result of one check in one round. */
export interface CheckResult {
  name: string
  command: string
  /** Round of checks, counted from 1. */
  round: number
  ok: boolean
  /** Exit code of the check. Null when the check was killed. */
  exitCode: number | null
  timedOut: boolean
  durationMs: number
  /** The end of the check's output. The full output is in `outputPath`. */
  tail: string
  outputPath: string
}

/** A failed request or session that is being retried. */
export interface JobRetry {
  /** The failure, in a sentence for the user. */
  reason: string
  /** Number of the next attempt, counted from 1. */
  attempt: number
  /** Maximum number of attempts. Null when unknown. */
  most: number | null
  /** When the next attempt starts. */
  until: string
}

/** The stored record of one job. */
export interface JobRecord {
  jobId: string
  seatId: string
  /** The seat (terminal or job) that started the job. Null when no other seat did. */
  parentSeatId: string | null
  spec: JobSpec
  state: JobState
  stateAt: string
  /** Why the job ended. Null until it has. */
  exitReason: ExitReason | null
  /** Text for the user about the current state. Empty when there is nothing to say. */
  detail: string
  /**
   * A request to the job's runner that is not done yet. Null when there is none.
   * leave: the runner's machine or terminal shuts down. The job is paused without being asked to.
   * The next process that looks for jobs of dead runners then continues the job.
   */
  wanted: 'leave' | 'pause' | 'cancel' | null
  /** The level (warning threshold) that requested the pause. Null or absent when a user did. */
  wantedBy?: string | null
  /** The process that runs the job. Null when none does. */
  runner: { pid: number; startedAt: string } | null
  /** Folders of the job. Null until they are set up. */
  workspace: WorkspaceState | null
  /** The session at work, or the last one. Null before the first. */
  sessionId: string | null
  handoffs: number
  compactions: number
  /**
   * Tool calls that change files: how many succeeded, and how many the permission mode denied.
   * `before`: denied calls when the job ended as `refused` and was resumed later.
   * Absent when there were no such calls.
   */
  edits?: { made: number; denied: number; before?: number }
  /**
   * Consecutive failures that were retried, hung clients, and usage limits that were waited out.
   * `stalls` and `waits` are absent in records of earlier versions.
   */
  failures: number
  stalls?: number
  waits?: number
  checkRound: number
  checks: CheckResult[]
  /** When the job stops waiting. Null when it does not wait, or the time is unknown. */
  waitUntil: string | null
  /** The failure that the client or the job retries. Absent or null when there is none. */
  retry?: JobRetry | null
  createdAt: string
  /** When the first session began, and when the job ended. Null until then. */
  startedAt: string | null
  endedAt: string | null
  /** Working time for the `minutes` budget, without waiting and pauses. */
  ranMs: number
  /** The agent's last text. Null before the first. */
  result: string | null
  /**
   * The planned end, stored before worktree, branch and processes are cleaned up.
   * After a crash, the next process completes the same end.
   */
  ending?: Pick<JobRecord, 'state' | 'exitReason' | 'detail'> | null
  /** Data for hooks of the job's end that must still run. Absent or null when none must run. */
  hooksDue?: { kept: boolean; pullRequest: string | null } | null
}
