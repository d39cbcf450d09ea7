import { resolve } from 'node:path'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { asksForHandoff, type LevelAction } from '../contract/level.js'
import type {
  CheckSpec,
  HookSpec,
  JobBudgets,
  JobHooks,
  JobLevel,
  JobSpec,
  RuntimeName,
  WorkspaceSpec,
} from '../contract/records/job.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { nearestName } from '../lib/nearest-name.js'
import type { WrittenAgent, WrittenHook } from './agent-schema.js'
import type { CompiledConfig } from './compiled.js'
import { keyText } from './finding.js'
import { policyFor } from './policy-for.js'
import { parsePosition } from './position.js'
import { parseDuration } from './value-kinds.js'

const DEFAULTS = {
  remaining: 0.1,
  maxHandoffs: 3,
  /** Long enough for an agent that runs several times a day. */
  expiresMs: 24 * 3600_000,
  silenceMs: 15 * 60_000,
  backgroundMs: 5 * 60_000,
  checkTimeoutMs: 10 * 60_000,
  checkRounds: 3,
  worktreeDir: '.worktrees',
  branchPattern: 'baton/{agent}/{workItem}',
}

/** Flags of a command line that starts a job. An absent key was not given. */
export interface JobFlags {
  /** The text of the prompt. The caller has already read `--prompt-file`. */
  prompt?: string
  model?: string
  permissionMode?: string
  runtime?: RuntimeName
  maxHandoffs?: number
  /** Replaces the agent's checks. */
  checks?: string[]
  budgets?: Partial<JobBudgets>
  worktree?: boolean
  workItem?: string
  /** Full id of the session on which to run the job. */
  resumeSession?: string
}

/** The surroundings of the configuration: folders and file access. */
interface ResolveContext {
  /** Folder in which the job was requested. */
  cwd: string
  /** Folder of the project's `baton.yaml`. Null when there is none. */
  project: string | null
  userHome: string
  /** Throws when there is no such file. */
  readText(path: string): string
}

/**
 * Resolves the task and limits of a job once.
 * Flags override the agent's own keys, then come the file's budgets, then the defaults.
 * `name` is null for a prompt alone. Throws a BatonError that names the key.
 */
export function resolveAgent(
  config: CompiledConfig,
  name: string | null,
  flags: JobFlags,
  context: ResolveContext,
): JobSpec {
  const written = name === null ? {} : agentNamed(config, name)
  const { session } = written
  const at = context.project ?? context.cwd
  return {
    agentName: name,
    agent: written.agent ?? DEFAULT_AGENT,
    prompt: promptOf(written, name, flags, context),
    workItem: flags.workItem ?? null,
    model: flags.model ?? written.model ?? null,
    permissionMode: flags.permissionMode ?? written.permission_mode ?? null,
    allowedTools: written.allowed_tools ?? written.tools ?? null,
    disallowedTools: written.disallowed_tools ?? null,
    appendSystemPrompt: written.append_system_prompt ?? null,
    runtime: flags.runtime ?? written.runtime ?? 'cli',
    folder: folderOf(written, name === null ? context.cwd : at, context),
    workspace: workspaceOf(written, flags, context),
    handoffAtRemaining: session?.context_threshold ?? session?.context_handoff_threshold ?? DEFAULTS.remaining,
    maxHandoffs: flags.maxHandoffs ?? written.max_handoffs ?? session?.max_handoffs_per_job ?? DEFAULTS.maxHandoffs,
    afterMaxHandoffs: written.after_max_handoffs ?? 'compact',
    session: {
      mode: session?.mode ?? 'fresh_per_job',
      expiresMs: (session?.timeout && parseDuration(session.timeout)) || DEFAULTS.expiresMs,
      maxMs: session?.max_duration ? parseDuration(session.max_duration) : null,
      resume: flags.resumeSession ?? null,
      project: context.project,
    },
    silenceMs: (session?.silence && parseDuration(session.silence)) || DEFAULTS.silenceMs,
    backgroundMs: (session?.background && parseDuration(session.background)) || DEFAULTS.backgroundMs,
    checks: (flags.checks ?? written.checks ?? []).map(checkOf),
    checkRounds: written.check_rounds ?? DEFAULTS.checkRounds,
    budgets: budgetsOf(config, written, flags),
    hooks: resolveHooks(written.hooks, config.hooks),
    ...levelsOf(config, written),
    handoffCap: capOf(config, written, at),
    env: { ...written.env },
  }
}

/** Returns the levels of an agent. A level without a position has that of the file's level. */
function levelsOf(config: CompiledConfig, { levels, agent, model }: WrittenAgent): { levels?: JobLevel[] } {
  if (!levels || levels.length === 0) return {}
  const subject = { agent: agent ?? DEFAULT_AGENT, project: null, model: model ?? null, seat: null }
  const known = policyFor(config, subject).levels
  const own = levels.flatMap(({ name, at, actions }): JobLevel[] => {
    const parsed = parsePosition(at)
    const resolveBelow = known.find((level) => level.name === name)
    const position = parsed.ok ? parsed.at : resolveBelow?.at
    const wanted = (actions ?? resolveBelow?.actions ?? []) as LevelAction[]
    return position ? [{ name, at: position, actions: wanted, hooks: hooksOfActions(wanted, config.hooks) }] : []
  })
  return { levels: own }
}

/**
 * Returns the earliest token limit of a level that asks for a handoff.
 * Levels whose position the agent changes are left out. Null when no level remains.
 */
function capOf(
  config: CompiledConfig,
  { agent, model, session, levels }: WrittenAgent,
  project: string,
): number | null {
  if ((session?.context_threshold ?? session?.context_handoff_threshold ?? null) !== null) return null
  const subject = { agent: agent ?? DEFAULT_AGENT, project, model: model ?? null, seat: null }
  const own = new Set((levels ?? []).filter(({ at }) => parsePosition(at).ok).map(({ name }) => name))
  const caps = policyFor(config, subject)
    .levels.filter((level) => asksForHandoff(level) && !own.has(level.name))
    .flatMap(({ at }) => (at.of === 'first' ? at.positions : []))
    .flatMap((position) => (position.of === 'tokens' ? [position.tokens] : []))
  return caps.length === 0 ? null : Math.min(...caps)
}

function agentNamed(config: CompiledConfig, name: string): WrittenAgent {
  if (Object.hasOwn(config.agents, name)) return config.agents[name]!
  const names = Object.keys(config.agents)
  const nearest = nearestName(name, names)
  const isTask = /\s/.test(name)
  const known = isTask
    ? `for a task, use baton run --prompt ${JSON.stringify(name)}`
    : names.length === 0
      ? 'define it under `agents` in baton.yaml; for a task, use baton run --prompt TEXT'
      : `known agents: ${names.join(', ')}`
  throw new BatonError(`unknown agent \`${name}\``, nearest ? `did you mean \`${nearest}\`?` : known, EXIT.usage, {
    key: keyText(['agents', name]),
  })
}

function promptOf(written: WrittenAgent, name: string | null, flags: JobFlags, context: ResolveContext): string {
  const given = flags.prompt ?? written.prompt ?? fromFile(written, name, context)
  if (given !== null && given.trim() !== '') return given
  if (given === null && name !== null)
    throw new BatonError(
      `the agent \`${name}\` has no prompt`,
      `add \`prompt\` or \`prompt_file\` to it, or give --prompt TEXT`,
      EXIT.usage,
      { key: keyText(['agents', name, 'prompt']) },
    )
  throw new BatonError(
    given === null ? 'No task was given.' : 'The prompt is empty.',
    'Give it with --prompt TEXT.',
    EXIT.usage,
  )
}

function fromFile(written: WrittenAgent, name: string | null, context: ResolveContext): string | null {
  if (!written.prompt_file) return null
  const path = below(context.project ?? context.cwd, written.prompt_file, context)
  try {
    return context.readText(path)
  } catch (error) {
    const key = keyText(['agents', name ?? '', 'prompt_file'])
    throw new BatonError(
      `${key}: ${path} cannot be read: ${reasonOf(error)}`,
      'check the path; it is relative to baton.yaml',
      EXIT.usage,
      {
        key,
      },
    )
  }
}

function folderOf(written: WrittenAgent, start: string, context: ResolveContext): string {
  const asked = written.working_directory
  if (!asked) return resolve(start)
  return below(start, typeof asked === 'string' ? asked : asked.root, context)
}

function below(folder: string, path: string, context: ResolveContext): string {
  return resolve(folder, expandHome(path, context))
}

function expandHome(path: string, { userHome }: ResolveContext): string {
  return path.replace(/^~(?=\/|$)/, userHome)
}

function workspaceOf(
  { workspace, working_directory }: WrittenAgent,
  flags: JobFlags,
  context: ResolveContext,
): WorkspaceSpec {
  const branch = typeof working_directory === 'object' ? working_directory?.default_branch : null
  const asked = flags.worktree === undefined ? null : flags.worktree ? 'git_worktree' : 'none'
  return {
    strategy: asked ?? workspace?.strategy ?? 'none',
    worktreeDir: expandHome(workspace?.worktree_dir ?? DEFAULTS.worktreeDir, context),
    branchPattern: workspace?.branch_pattern ?? DEFAULTS.branchPattern,
    baseBranch: workspace?.base_branch ?? branch ?? null,
    pushOnSuccess: workspace?.push_on_success ?? workspace?.create_pr ?? false,
    createPr: workspace?.create_pr ?? false,
    removeClean: workspace?.remove_clean ?? true,
  }
}

function checkOf(written: NonNullable<WrittenAgent['checks']>[number]): CheckSpec {
  if (typeof written === 'string') return { name: written, command: written, timeoutMs: DEFAULTS.checkTimeoutMs }
  const { name, command, timeout } = written
  const timeoutMs = (typeof timeout === 'string' ? parseDuration(timeout) : timeout) ?? DEFAULTS.checkTimeoutMs
  return { name: name ?? command, command, timeoutMs }
}

function budgetsOf(config: CompiledConfig, written: WrittenAgent, flags: JobFlags): JobBudgets {
  const of = (key: keyof JobBudgets) => flags.budgets?.[key] ?? written.budgets?.[key] ?? config.budgets[key]
  return { usd: of('usd'), tokens: of('tokens'), turns: of('turns'), minutes: of('minutes') }
}

const TIMEOUT_MS = 30_000

type Entries = NonNullable<NonNullable<WrittenAgent['hooks']>['after_run']>

/** Returns the hooks of an agent. Hooks that it only names come from the file's `hooks`. */
function resolveHooks(written: WrittenAgent['hooks'], named: CompiledConfig['hooks']): JobHooks {
  // The check of the file guarantees that every name exists.
  const list = (entries: Entries | null | undefined): HookSpec[] =>
    (entries ?? []).flatMap((entry) => {
      const hook = typeof entry === 'string' ? (named[entry] as WrittenHook | undefined) : entry
      return hook ? [specOf(hook, typeof entry === 'string' ? entry : null)] : []
    })
  return {
    onContextThreshold: list(written?.on_context_threshold),
    onSessionStart: list(written?.on_session_start),
    afterRun: list(written?.after_run),
    onError: list(written?.on_error),
  }
}

/** Returns the hooks that the actions of a level name. */
function hooksOfActions(actions: readonly string[], named: CompiledConfig['hooks']): HookSpec[] {
  return actions.flatMap((action) => {
    const [, name] = /^(?:hook|webhook):(.+)$/.exec(action) ?? []
    const hook = name === undefined ? undefined : (named[name] as WrittenHook | undefined)
    return hook ? [specOf(hook, name!)] : []
  })
}

function specOf(hook: WrittenHook, name: string | null): HookSpec {
  const base = {
    name: hook.name ?? name,
    onEvents: hook.on_events ?? null,
    when: hook.when ?? null,
    continueOnError: hook.continue_on_error ?? true,
    timeoutMs: hook.timeout ?? TIMEOUT_MS,
  }
  switch (hook.type) {
    case 'shell':
      return { ...base, type: 'shell', command: hook.command }
    case 'webhook':
      return { ...base, type: 'webhook', url: hook.url, method: hook.method ?? 'POST', headers: hook.headers ?? {} }
    case 'slack':
      return { ...base, type: 'slack', ...chatOf(hook), iconEmoji: hook.icon_emoji ?? null }
    case 'discord':
      return { ...base, type: 'discord', ...chatOf(hook), avatarUrl: hook.avatar_url ?? null }
  }
}

function chatOf(hook: Extract<WrittenHook, { type: 'slack' | 'discord' }>) {
  return {
    channelId: hook.channel_id,
    botTokenEnv: hook.bot_token_env ?? null,
    baseUrl: hook.base_url ?? null,
    username: hook.username ?? null,
  }
}
