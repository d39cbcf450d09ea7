import { resolve } from 'node:path'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { type Action, asksForHandoff } from '../contract/level.js'
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
  /** Covers an agent that is run several times a day. */
  expiresMs: 24 * 3600_000,
  silenceMs: 15 * 60_000,
  backgroundMs: 5 * 60_000,
  checkTimeoutMs: 10 * 60_000,
  checkRounds: 3,
  worktreeDir: '.worktrees',
  branchPattern: 'baton/{agent}/{workItem}',
}

/** What a command line says about a job. A key that is left out says nothing. */
export interface JobFlags {
  /** The text itself: whoever read the command line has read `--prompt-file` too. */
  prompt?: string
  model?: string
  permissionMode?: string
  runtime?: RuntimeName
  maxHandoffs?: number
  /** In the place of the agent's checks. */
  checks?: string[]
  budgets?: Partial<JobBudgets>
  worktree?: boolean
  workItem?: string
  /** The whole id of the session to run the job on. */
  resumeSession?: string
}

/** What lies around the configuration. */
interface ResolveContext {
  /** Where the job was asked for. */
  cwd: string
  /** The folder of the project's `baton.yaml`; null: there is none. */
  project: string | null
  userHome: string
  /** Throws when there is no such file. */
  readText(path: string): string
}

/**
 * All that a job is to do and may do, settled once: flags over the agent's own keys over the file's budgets over the defaults.
 * `name` null: a prompt alone. Throws a `BatonError` that names the key.
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

/** One that only changes a level of the file lies where that does. */
function levelsOf(config: CompiledConfig, { levels, agent, model }: WrittenAgent): { levels?: JobLevel[] } {
  if (!levels || levels.length === 0) return {}
  const subject = { agent: agent ?? DEFAULT_AGENT, project: null, model: model ?? null, seat: null }
  const known = policyFor(config, subject).levels
  const own = levels.flatMap(({ name, at, actions }): JobLevel[] => {
    const parsed = parsePosition(at)
    const below = known.find((level) => level.name === name)
    const position = parsed.ok ? parsed.at : below?.at
    const wanted = (actions ?? below?.actions ?? []) as Action[]
    return position ? [{ name, at: position, actions: wanted, hooks: hooksOfActions(wanted, config.hooks) }] : []
  })
  return { levels: own }
}

/** The earliest cap of a level that asks for a handoff and that the agent does not place itself. */
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
    ? `for a task: baton run --prompt ${JSON.stringify(name)}`
    : names.length === 0
      ? 'write it under `agents` in baton.yaml; for a task: baton run --prompt TEXT'
      : `agents: ${names.join(', ')}`
  throw new BatonError(`there is no agent \`${name}\``, nearest ? `did you mean \`${nearest}\`?` : known, EXIT.usage, {
    key: keyText(['agents', name]),
  })
}

function promptOf(written: WrittenAgent, name: string | null, flags: JobFlags, context: ResolveContext): string {
  const given = flags.prompt ?? written.prompt ?? fromFile(written, name, context)
  if (given !== null && given.trim() !== '') return given
  if (given === null && name !== null)
    throw new BatonError(
      `the agent \`${name}\` has no prompt`,
      `add \`prompt\` or \`prompt_file\` to it, or write --prompt TEXT`,
      EXIT.usage,
      { key: keyText(['agents', name, 'prompt']) },
    )
  throw new BatonError(given === null ? 'no task was given' : 'the prompt is empty', 'write --prompt TEXT', EXIT.usage)
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
      'paths are relative to baton.yaml',
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
  return resolve(folder, atHome(path, context))
}

function atHome(path: string, { userHome }: ResolveContext): string {
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
    worktreeDir: atHome(workspace?.worktree_dir ?? DEFAULTS.worktreeDir, context),
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

/** The hooks of an agent; those it only names are taken from the file's own `hooks`. */
function resolveHooks(written: WrittenAgent['hooks'], named: CompiledConfig['hooks']): JobHooks {
  // The check of the file has seen to it that every name is there.
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

/** Those that the actions of a level name. */
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
