import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentId } from '../../../contract/agent-ids.js'
import type { SessionRecord } from '../../../contract/records/session.js'
import { agoText, type Fault, type Finding, noFaults } from '../../../lib/finding.js'
import { namesInFolder, readNamedText } from '../../../lib/named-file.js'
import type { CheckContext, SettingsTarget } from '../../installer.js'
import { InstallProblem } from '../../shared/install-problem.js'
import { MODULE_MARKER_FILE } from '../../shared/mod-marker.js'
import { PLUGIN_NAME } from '../mod/mod.js'
import { supportsPluginModules } from '../settings/settings-file.js'

const AGENT: AgentId = 'claude-code'
const DAY = 24 * 3_600_000
const MOST_REPORTS = 100_000
const LARGEST_REPORT = 1024 * 1024
const DERIVED = 'the window and the compaction point are estimates'

/**
 * Checks that the plugin module is where the client loads it, and that it reports.
 * Without the module, Baton only measures less exactly.
 */
export function checkPluginModule(context: CheckContext): Finding {
  const { client } = context
  if (!supportsPluginModules(client.version))
    return noFaults(`Claude Code ${client.version} loads no plugin modules (2.1.287 and later do): ${DERIVED}.`)
  const faults: Fault[] = []
  const notes: string[] = []
  let since: number | null = null
  for (const target of context.targets()) {
    const found = lookAt(context, target)
    if (found.fault) faults.push(found.fault)
    if (found.note) notes.push(found.note)
    if (found.since !== null) since = Math.min(since ?? found.since, found.since)
  }
  if (since === null || faults.length > 0)
    return { summary: notes.join(' ') || `Not installed: baton install adds it. Without it ${DERIVED}.`, faults }
  const reports = lookAtReports(context)
  const silent = judgeReports(reports, since, context.sessions(), context.now())
  if (silent)
    faults.push({
      detail: silent,
      fix: 'Open a new session. If that changes nothing, run claude --debug to see the reason.',
    })
  return { summary: [describeReports(reports, context.now()), ...notes].join(' '), faults }
}

interface Found {
  fault?: Fault
  note?: string
  /** Time at which the plugin module was installed. Null when it is not installed. */
  since: number | null
}

function lookAt(context: CheckContext, target: SettingsTarget): Found {
  const folder = join(dirname(target.path), 'skills', PLUGIN_NAME)
  try {
    const { files, notes } = context.rehearse(target)
    const wrong = files.filter(({ path, action }) => path.startsWith(`${folder}/`) && action !== 'unchanged')
    const foreign = notes.find((note) => note.startsWith(folder))
    if (foreign) return { note: foreign, since: null }
    if (wrong.length > 0) {
      const all = wrong.every(({ action }) => action === 'created')
      const detail = `The plugin module in ${folder} is ${all ? 'missing' : 'not of this version'}: ${DERIVED}.`
      return { fault: context.byInstall(detail, 'install it', target), since: null }
    }
    return { since: statSync(join(folder, MODULE_MARKER_FILE), { throwIfNoEntry: false })?.mtimeMs ?? null }
  } catch (error) {
    // The check of the settings reports what prevents an install.
    if (error instanceof InstallProblem) return { since: null }
    throw error
  }
}

/** The plugin module's report about one session. */
export interface PluginModuleReport {
  session: string
  at: number
  problem: string | null
}

function lookAtReports({ home }: CheckContext): PluginModuleReport[] {
  // Files of orders, answers and summaries have two-part names and are skipped.
  const names = namesInFolder(home.live, MOST_REPORTS).filter((name) => /^[\w-]+\.json$/.test(name))
  return names.flatMap((name) => {
    try {
      const path = join(home.live, name)
      const at = statSync(path).mtimeMs
      const { problem } = JSON.parse(readNamedText(path, { owner: 'this-user', most: LARGEST_REPORT }) ?? '') as {
        problem?: unknown
      }
      return [{ session: name.slice(0, -'.json'.length), at, problem: typeof problem === 'string' ? problem : null }]
    } catch {
      return []
    }
  })
}

/**
 * Returns a sentence when the plugin module is installed but does not report.
 * Null when the module reports, or no session has run with it yet.
 */
function judgeReports(
  reports: readonly PluginModuleReport[],
  since: number,
  sessions: readonly SessionRecord[],
  now: Date,
): string | null {
  const newest = reports.toSorted((a, b) => b.at - a.at)[0]
  if (newest?.problem && now.getTime() - newest.at < DAY)
    return `The plugin module reports a problem: ${newest.problem}`
  const reported = new Set(reports.map(({ session }) => session))
  const meant = sessions.filter(
    (one) =>
      one.agent === AGENT &&
      Date.parse(one.startedAt) > since &&
      one.track.readAt !== null &&
      supportsPluginModules(one.agentVersion),
  )
  if (meant.length === 0 || meant.some(({ sessionId }) => reported.has(sessionId))) return null
  const affected = `${meant.length} session${meant.length > 1 ? 's' : ''}`
  return `The plugin module has not reported in any of ${affected} since its install, so ${DERIVED}.`
}

function describeReports(reports: readonly PluginModuleReport[], now: Date): string {
  if (reports.length === 0) return 'The plugin module is installed. No session has used it yet.'
  return `The plugin module's last report is ${agoText(now.getTime() - Math.max(...reports.map(({ at }) => at)))} old.`
}
