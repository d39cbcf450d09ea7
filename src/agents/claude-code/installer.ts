import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Finding, noFaults, oneFault } from '../../lib/finding.js'
import type { AgentInstaller, CheckContext, DemoClient, SampleSignals } from '../installer.js'
import { parseStatusLineCommand } from '../shared/launcher-call.js'
import { checkPluginModule } from './checks/check-mod.js'
import { checkHooksRun, checkSettings, checkStatusLine } from './checks/check-settings.js'
import { checkHandoffChannels } from './checks/check-ways.js'
import { claudeCode } from './claude-code.js'
import { launcherText } from './launcher.js'
import { PLUGIN_NAME, pluginModuleFiles } from './mod/mod.js'
import {
  haveSameBatonEntries,
  insertBatonEntries,
  launchersOfOtherHomes,
  removeBatonEntries,
} from './settings/change-settings.js'
import { containsHandoffRule } from './settings/handoff-rule.js'
import {
  findBatonEntries,
  HANDOFF_RULE,
  isBlankSettings,
  parseSettings,
  projectSettingsPaths,
  statusLineCommandIn,
  supportsPluginModules,
  userSettingsPath,
} from './settings/settings-file.js'
import { supportsWaitingHooks } from './waiter.js'

/** The event that starts a session. */
const START = 'SessionStart'

const KEY = 'sk-demo'
const tools = (model: string): string[] => ['--model', model, '--allowedTools', 'Bash']

const claudeCodeDemo: DemoClient = {
  title: 'Claude Code',
  howToGet: 'Run npm install -g @anthropic-ai/claude-code',
  packaged(program) {
    const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
    try {
      const path = join(dirname(createRequire(join(program, 'baton.mjs')).resolve(`${name}/package.json`)), 'claude')
      return existsSync(path) ? path : null
    } catch {
      return null
    }
  },
  /** Stores the answers to the client's questions at its first start. */
  prepareUser(user, project) {
    mkdirSync(join(user, '.claude'), { recursive: true, mode: 0o700 })
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
    const answers = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY], rejected: [] },
      projects: { [project]: trusted },
    }
    writeFileSync(join(user, '.claude.json'), JSON.stringify(answers), { mode: 0o600 })
  },
  environment: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Without this variable, a client in a terminal clones its plugin marketplace from the network.
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
  }),
  headless: (prompt, model) => ['-p', prompt, ...tools(model)],
  interactive: (prompt, model) => [prompt, ...tools(model)],
}

const WITHOUT_MODULE = 'window and compaction point are derived, not exact'

export const claudeCodeInstaller: AgentInstaller = {
  settingsPath: (scope, { env, project }) =>
    scope === 'project' ? projectSettingsPaths(project).local : userSettingsPath(env),
  environmentFor: (path, env) => ({ ...env, CLAUDE_CONFIG_DIR: dirname(path) }),
  inheritedFrom: ({ env, project }) => [projectSettingsPaths(project).shared, userSettingsPath(env)],
  // The client loads modules beside the user's and the project's settings.
  // If both exist, the client loads the user's.
  modFolder: (settings) => join(dirname(settings), 'skills', PLUGIN_NAME),
  modFiles: pluginModuleFiles,
  whyNoMod: (version) =>
    supportsPluginModules(version)
      ? null
      : `Claude Code ${version} loads no plugin modules (2.1.287 and later do): ${WITHOUT_MODULE}.`,
  supportsWaiters: supportsWaitingHooks,
  launcher: (input) =>
    launcherText({
      ...input,
      agent: claudeCode.id,
      environment: claudeCode.environment,
      unread: claudeCode.unread,
    }),
  insert: insertBatonEntries,
  strip: removeBatonEntries,
  sameEntries: haveSameBatonEntries,
  otherHomes: launchersOfOtherHomes,
  callsBaton(text, by) {
    if (isBlankSettings(text)) return false
    try {
      const line = statusLineCommandIn(text)
      const mine = findBatonEntries(parseSettings(text), by).some(({ call }) => call.whose === 'ours')
      return mine || (line !== null && parseStatusLineCommand(line, by)?.whose === 'ours')
    } catch {
      return false
    }
  },
  statusLineIn: statusLineCommandIn,
  handoffRule: HANDOFF_RULE,
  hasHandoffRule: containsHandoffRule,
  commandsIn(text, by) {
    const entry = findBatonEntries(parseSettings(text), by).find(
      ({ call }) => call.args[0] === START && call.whose === 'ours',
    )
    const line = statusLineCommandIn(text)
    return {
      hook: entry ? (entry.hook as { command: string }).command : null,
      line: line !== null && parseStatusLineCommand(line, by)?.whose === 'ours' ? line : null,
    }
  },
  startEvent: START,
  sample: sampleSignals,
  checks: [
    { name: 'client', look: checkClient },
    { name: 'settings', look: checkSettings },
    { name: 'hooks-run', look: checkHooksRun },
    { name: 'status-line', look: checkStatusLine },
    { name: 'mod', look: checkPluginModule },
    { name: 'ways', look: checkHandoffChannels },
  ],
  demo: claudeCodeDemo,
}

const SAMPLE_PREFIX = 'doctor-'

function sampleSignals(folder: string, id: string): SampleSignals {
  const sessionId = `${SAMPLE_PREFIX}${id}`
  const used = 12_345
  const common = { session_id: sessionId, transcript_path: `${folder}/${sessionId}.jsonl`, cwd: folder }
  return {
    sessionId,
    used,
    sessionStart: JSON.stringify({
      ...common,
      hook_event_name: 'SessionStart',
      source: 'startup',
      model: 'claude-opus-4-6',
    }),
    statusLine: JSON.stringify({
      ...common,
      model: { id: 'claude-opus-4-6', display_name: 'Opus 4.6' },
      workspace: { current_dir: folder, project_dir: folder, added_dirs: [] },
      cost: { total_cost_usd: 0, total_duration_ms: 1, total_api_duration_ms: 0 },
      context_window: {
        total_input_tokens: used,
        context_window_size: 200_000,
        current_usage: {
          input_tokens: 345,
          output_tokens: 10,
          cache_creation_input_tokens: 2_000,
          cache_read_input_tokens: 10_000,
        },
      },
    }),
  }
}

/** The first version with every event that Baton needs, according to the client's release notes. */
const OLDEST = [2, 1, 78] as const

function checkClient(context: CheckContext): Finding {
  const { path, version } = context.client
  const sessions = context.sessions()
  const last = sessions
    .toSorted((a, b) => (a.seenAt < b.seenAt ? 1 : -1))
    .find(({ agentVersion }) => agentVersion !== null)
  return judgeClient(path, version, last?.agentVersion ?? null)
}

/**
 * Judges the installed client by its version.
 * `seen` is the version reported by a session, null when there was none.
 */
export function judgeClient(path: string | null, version: string | null, seen: string | null): Finding {
  if (path === null && seen === null)
    return oneFault(
      'Claude Code was not found: claude is not on the PATH, and Baton has seen no session.',
      'Run npm install -g @anthropic-ai/claude-code, or open a session where it is installed.',
    )
  if (path === null) return noFaults(`claude is not on the PATH. The last session used Claude Code ${seen}.`)
  if (version === null)
    return oneFault(
      `${path} --version did not answer.`,
      'Run claude --version yourself. If it fails, run npm install -g @anthropic-ai/claude-code.',
    )
  if (isOlder(version))
    return oneFault(
      `Claude Code ${version} is too old: Baton needs ${OLDEST.join('.')} or newer.`,
      'Run claude update.',
    )
  return noFaults(`Claude Code ${version} (${path}).`)
}

function isOlder(version: string): boolean {
  const parts = version.split('.').map(Number)
  const differs = OLDEST.findIndex((wanted, i) => parts[i] !== wanted)
  return differs >= 0 && (parts[differs] ?? 0) < OLDEST[differs]!
}
