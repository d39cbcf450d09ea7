import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { clientVersion } from '../../agents/client-version.js'
import { clients } from '../../agents/clients.js'
import { readers } from '../../agents/readers.js'
import { typable } from '../../app/messages.js'
import { openRuntime } from '../../app/open-runtime.js'
import { shownBy } from '../../app/sessions.js'
import { archivePaths } from '../../archive/archive-folders.js'
import { countUnknown } from '../../archive/find-unknown.js'
import { readBrief } from '../../briefs/read-brief.js'
import { loadConfig } from '../../config/load-config.js'
import { notifyEntries } from '../../config/notify-schema.js'
import { DEFAULT_AGENT } from '../../contract/agent-ids.js'
import { RUNTIMES } from '../../contract/records/job.js'
import type { DoctorDependencies, OpenApp } from '../../doctor/context.js'
import { type CheckResult, runDoctor } from '../../doctor/doctor.js'
import { judgeStored } from '../../engine/compaction/stored-transcripts.js'
import { isUndriven } from '../../engine/handoff/handoff-drivers.js'
import { type App, openApp } from '../../engine/open-engine.js'
import * as rareWork from '../../engine/rare-work.js'
import { launcherHere, modHere } from '../../install/installation.js'
import { prepareHome } from '../../install/prepare-home.js'
import { EXIT } from '../../lib/errors.js'
import { findProgram } from '../../lib/find-program.js'
import { batonHome, type Home } from '../../lib/home.js'
import { machineKey } from '../../lib/machine-key.js'
import { replaceControls } from '../../lib/shown-text.js'
import { isSilent } from '../../policy/silence.js'
import { isServerLocked, lockServer } from '../../store/server-lock.js'
import { openDatabase } from '../../store/sqlite/driver.js'
import { recoverySteps, withExplainedErrors } from '../../store/sqlite/explain.js'
import { VERSION } from '../../version.js'
import type { Call, Cli, Command } from '../command.js'
import type { Paint, Screen } from '../render/screen.js'
import { padEnd, wrap } from '../render/text.js'

export const command: Command = {
  name: 'doctor',
  summary: 'prove that everything works, from the settings to a signal that arrives',
  usage: ['[--fix]'],
  about:
    'Checks every part and says what is wrong and how to fix it; exits with 1 if something is. It changes nothing ' +
    'unless --fix is given, and then nothing that you chose or stored.',
  options: { fix: { type: 'boolean', about: 'fix what can be fixed safely' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton doctor', 'does everything work?'],
    ['baton doctor --fix', 'fix what it can'],
  ],
  json: '{ok, checks: [{name, ok, detail, fix, fixed}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const home = batonHome(cli.env)
  const tell = (result: CheckResult): void => cli.print(checkLines(result, cli.screen, cli.env.HOME).join('\n'))
  const report = await runDoctor({
    home,
    env: cli.env,
    cwd: cli.cwd,
    version: VERSION,
    launcher: launcherHere(DEFAULT_AGENT, home, cli),
    mod: modHere(DEFAULT_AGENT, home),
    dependencies: doctorDependencies(home, cli.env),
    now: cli.now,
    fix: call.flag('fix'),
    ...(call.json ? {} : { tell }),
  })
  cli.print(call.json ? JSON.stringify(report) : `\n${verdict(report.checks, cli.screen.paint)}`)
  return report.ok ? EXIT.done : EXIT.failed
}

interface Checked {
  name: string
  ok: boolean
  detail: string
  fix: string | null
  fixed: boolean
}

const NAME_WIDTH = 14

/** One check as a person reads it: what was found and, below it, what to do. */
export function checkLines(
  { name, ok, detail, fix, fixed }: Checked,
  { paint, columns }: Screen,
  home: string | undefined,
): string[] {
  const mark = fixed ? paint('✓', 'yellow') : ok ? paint('✓', 'green') : paint('✗', 'red')
  const indent = NAME_WIDTH + 3
  const shown = (text: string): string => replaceControls(home ? text.replaceAll(`${home}/`, '~/') : text)
  const [first = '', ...others] = detail.split('\n')
  const lines = [
    ...wrap(`${mark} ${padEnd(name, NAME_WIDTH)} ${detail === '' ? paint('–', 'dim') : shown(first)}`, columns, indent),
    ...others.flatMap((line) => wrap(`${' '.repeat(indent)}${shown(line)}`, columns, indent)),
  ]
  if (fix === null) return lines
  return [...lines, ...wrap(`${' '.repeat(indent)}${shown(fix)}`, columns, indent).map((line) => paint(line, 'bold'))]
}

export function verdict(checks: readonly Checked[], paint: Paint): string {
  const failed = checks.filter(({ ok }) => !ok).length
  const fixed = checks.filter((check) => check.fixed).length
  const mended = fixed === 0 ? '' : ` ${fixed === 1 ? 'One thing was' : `${fixed} things were`} mended.`
  if (failed === 0) return paint(`All is well.${mended}`, 'green')
  return paint(
    `${failed === 1 ? 'One check' : `${failed} checks`} of ${checks.length} found something.${mended}`,
    'red',
  )
}

/** Returns the functions that doctor needs of modules it may not import. */
export function doctorDependencies(home: Home, env: Record<string, string | undefined>): DoctorDependencies {
  return {
    loadConfig,
    notifyEntries: (options) => notifyEntries(loadConfig(options).config),
    openApp(of) {
      const app = openApp({ env: of, loadConfig, rareWork: () => rareWork, busyMs: 2_000 })
      return { ...app, ...shownBy(app), transcripts: () => judgeTranscripts(app, of) }
    },
    openDatabase: (path, options) => withExplainedErrors(openDatabase(path, options), path),
    archiveFiles(app) {
      const { folder } = archivePaths(home.root)
      const all = app.store.segments()
      const gone = all.filter(({ file, storedBytes }) => sizeOf(join(folder, file)) !== storedBytes)
      return { all: all.length, gone: gone.map(({ file }) => join(folder, file)) }
    },
    unknownArchives: (app) =>
      countUnknown(
        app?.store ?? { archives: () => [], segments: () => [], leftovers: () => [] },
        archivePaths(home.root),
      ),
    recoverySteps,
    isGenuine: ({ path, sha256 }) =>
      existsSync(home.key) && readBrief(path, machineKey(home.key), sha256).verdict === 'genuine',
    isUndriven,
    async typable(pid, sessionId) {
      const configDir = clients[DEFAULT_AGENT]?.configDir?.(env) ?? null
      return configDir !== null && typable(DEFAULT_AGENT, { pid, configDir, sessionId })
    },
    isSilent,
    isServed: () => isServerLocked(home.server),
    whileNotServed(work) {
      const lock = lockServer(home.server)
      if (lock === null) throw new Error('a server of this home has started meanwhile')
      try {
        work()
      } finally {
        lock.release()
      }
    },
    prepareHome: () => prepareHome(home, env),
    findProgram: (name) => findProgram(name, env),
    clientVersion: () => clientVersion(env),
    runtimes: (folder) =>
      Promise.all(
        RUNTIMES.map(async (name) => ({
          name,
          missing: (await openRuntime(DEFAULT_AGENT, name, folder, { env: { PATH: env.PATH } })).missing(),
        })),
      ),
  }
}

const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null

const DAY_MS = 24 * 3_600_000

function judgeTranscripts(
  { engine: { deps } }: Pick<App, 'engine'>,
  env: Record<string, string | undefined>,
): ReturnType<OpenApp['transcripts']> {
  const judged = judgeStored(deps, env)
  const waiting = judged.filter(({ standing }) => standing === 'unarchived')
  const periodOf = ({ agent, path }: { agent: string; path: string }) => readers[agent]!.cleanupPeriod(path)
  const deleted = waiting.map((one) => one.writtenMs + periodOf(one).days * DAY_MS)
  const limits = new Map(judged.map(periodOf).flatMap(({ days, setBy }) => (setBy === null ? [] : [[setBy, days]])))
  return {
    archived: judged.filter(({ standing }) => standing === 'archived').length,
    unarchived: { count: waiting.length, bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0) },
    deletedAtMs: deleted.length === 0 ? null : Math.min(...deleted),
    limits: [...limits].map(([setBy, days]) => ({ setBy, days })),
  }
}
