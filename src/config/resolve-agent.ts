import { resolve } from 'node:path'
import type { CheckSpec, JobBudgets, JobLevel, JobSpec, RuntimeName, WorkspaceSpec } from '../contract/job.js'
import type { Action } from '../contract/level.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { nearestName } from '../lib/nearest-name.js'
import type { WrittenAgent } from './agent-schema.js'
import type { CompiledConfig } from './compiled.js'
import { parseDuration } from './duration.js'
import { keyText } from './finding.js'
import { policyFor } from './policy-for.js'
import { parsePosition } from './position.js'
import { hooksOfActions, resolveHooks } from './resolve-hooks.js'

const DEFAULTS = {
  remaining: 0.1,
  maxHandoffs: 3,
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
}

/** What lies around the configuration. */
export interface Ground {
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
export function resolveAgent(config: CompiledConfig, name: string | null, flags: JobFlags, ground: Ground): JobSpec {
  const written = name === null ? {} : agentNamed(config, name)
  const { session } = written
  const at = ground.project ?? ground.cwd
  return {
    agentName: name,
    agent: written.agent ?? 'claude-code',
    prompt: promptOf(written, name, flags, ground),
    workItem: flags.workItem ?? null,
    model: flags.model ?? written.model ?? null,
    permissionMode: flags.permissionMode ?? written.permission_mode ?? null,
    allowedTools: written.allowed_tools ?? written.tools ?? null,
    disallowedTools: written.disallowed_tools ?? null,
    appendSystemPrompt: written.append_system_prompt ?? null,
    runtime: flags.runtime ?? written.runtime ?? 'cli',
    folder: folderOf(written, name === null ? ground.cwd : at, ground),
    workspace: workspaceOf(written, flags, ground),
    handoffAtRemaining: session?.context_threshold ?? session?.context_handoff_threshold ?? DEFAULTS.remaining,
    maxHandoffs: flags.maxHandoffs ?? written.max_handoffs ?? session?.max_handoffs_per_job ?? DEFAULTS.maxHandoffs,
    afterMaxHandoffs: written.after_max_handoffs ?? 'compact',
    sessionTimeoutMs: session?.timeout ? parseDuration(session.timeout) : null,
    silenceMs: (session?.silence && parseDuration(session.silence)) || DEFAULTS.silenceMs,
    backgroundMs: (session?.background && parseDuration(session.background)) || DEFAULTS.backgroundMs,
    checks: (flags.checks ?? written.checks ?? []).map(checkOf),
    checkRounds: written.check_rounds ?? DEFAULTS.checkRounds,
    budgets: budgetsOf(config, written, flags),
    hooks: resolveHooks(written.hooks, config.hooks),
    ...levelsOf(config, written),
    env: { ...written.env },
  }
}

/** One that only changes a level of the file lies where that does. */
function levelsOf(config: CompiledConfig, { levels, agent, model }: WrittenAgent): { levels?: JobLevel[] } {
  if (!levels || levels.length === 0) return {}
  const subject = { agent: agent ?? 'claude-code', project: null, model: model ?? null, seat: null }
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

function promptOf(written: WrittenAgent, name: string | null, flags: JobFlags, ground: Ground): string {
  const given = flags.prompt ?? written.prompt ?? fromFile(written, name, ground)
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

function fromFile(written: WrittenAgent, name: string | null, ground: Ground): string | null {
  if (!written.prompt_file) return null
  const path = below(ground.project ?? ground.cwd, written.prompt_file, ground)
  try {
    return ground.readText(path)
  } catch (error) {
    const key = keyText(['agents', name ?? '', 'prompt_file'])
    throw new BatonError(`${key}: ${path} cannot be read: ${reasonOf(error)}`, 'paths are relative to baton.yaml', EXIT.usage, {
      key,
    })
  }
}

function folderOf(written: WrittenAgent, start: string, ground: Ground): string {
  const asked = written.working_directory
  if (!asked) return resolve(start)
  return below(start, typeof asked === 'string' ? asked : asked.root, ground)
}

function below(folder: string, path: string, ground: Ground): string {
  return resolve(folder, atHome(path, ground))
}

function atHome(path: string, { userHome }: Ground): string {
  return path.replace(/^~(?=\/|$)/, userHome)
}

function workspaceOf({ workspace, working_directory }: WrittenAgent, flags: JobFlags, ground: Ground): WorkspaceSpec {
  const branch = typeof working_directory === 'object' ? working_directory?.default_branch : null
  const asked = flags.worktree === undefined ? null : flags.worktree ? 'git_worktree' : 'none'
  return {
    strategy: asked ?? workspace?.strategy ?? 'none',
    worktreeDir: atHome(workspace?.worktree_dir ?? DEFAULTS.worktreeDir, ground),
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
