import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { AgentInstaller, PluginModuleFile, SettingsScope } from '../agents/installer.js'
import { addPathToFault, decodeSettingsText, InstallProblem } from '../agents/shared/install-problem.js'
import type { ProgramRecognition } from '../agents/shared/launcher-call.js'
import { quoteForShell } from '../lib/shell-words.js'
import { backupName, installFiles } from './home-files.js'
import { type FoundMod, planMod } from './mod-folder.js'
import type { FileChange, FoundSettings, Plan, Step } from './plan.js'
import { type InstallRecord, printRecord } from './record.js'
import { type EarlierInstall, withoutBaton } from './without-baton.js'

interface InstallInput {
  agent: string
  installer: AgentInstaller
  home: string
  scope: SettingsScope
  settings: FoundSettings
  earlier: EarlierInstall
  /** The status line of a file with lower rank, which ours would hide. */
  inherited: string | null
  mod: FoundMod
  modFiles: PluginModuleFile[]
  clientVersion: string | null
  /** True when a rule is wanted that lets the agent run `baton handoff` without a question. */
  allowHandoff: boolean
  launcher: { wanted: string; found: string | null }
  former: string | null
  by: ProgramRecognition
  now: Date
}

/**
 * Plans the changes of an install and writes nothing.
 * Throws InstallProblem when the file must not be changed.
 */
export function planInstall(input: InstallInput): Plan {
  const { installer, settings, earlier, by } = input
  const files = installFiles(input.home, settings.key)
  const current = settings.bytes === null ? '' : decodeSettingsText(settings.path, settings.bytes)
  const blank = withoutBaton(installer, settings, earlier, by)
  const others = addPathToFault(settings.path, () => installer.otherHomes(current, by))
  if (others.length > 0) throw calledFromElsewhere(settings.path, others[0]!)

  const mod = planMod(input.mod, input.modFiles, installer.whyNoMod(input.clientVersion))
  // Prefer the plugin module: a waiter is an extra process for every idle session.
  const waiter = mod.files.length === 0 && input.modFiles.length > 0 && installer.supportsWaiters(input.clientVersion)
  const rule = input.allowHandoff || earlier.record?.allow_handoff === true
  const want = { launcher: files.launcher, key: settings.key, by, inherited: input.inherited, waiter, rule }
  const put = addPathToFault(settings.path, () =>
    installer.insert(blank === null ? '' : decodeSettingsText(settings.path, blank), want),
  )
  const same = addPathToFault(settings.path, () => installer.sameEntries(current, put.text, by))
  const bytes = same && settings.bytes ? settings.bytes : Buffer.from(put.text)

  const backups = planBackups(input, blank, !same)
  const known = same ? earlier.record : null
  const record: InstallRecord = {
    version: 1,
    agent: input.agent,
    scope: input.scope,
    path: settings.path,
    key: settings.key,
    existed: blank !== null,
    mode: settings.mode,
    before: blank && { sha256: sha256(blank), backup: backups.blank ?? '' },
    after: shasOver(earlier, blank, settings.bytes, bytes),
    created: put.created,
    former: put.former,
    former_literal: put.formerLiteral,
    installed_at: input.now.toISOString(),
    ...known,
    ...(rule ? { allow_handoff: true } : {}),
    folders: [...new Set([...(earlier.record?.folders ?? []), ...settings.missingFolders, ...mod.folders])],
  }

  const former = changeOf(files.former, put.former || null, input.former)
  const launcher = changeOf(files.launcher, input.launcher.wanted, input.launcher.found)
  const change: FileChange = {
    path: settings.path,
    action: same ? 'unchanged' : settings.bytes === null ? 'created' : 'changed',
    backup: backups.current,
  }
  const steps: Step[] = [
    ...[input.home, files.bin, files.formers, files.records].map(privateFolder),
    ...backups.steps,
    ...(printRecord(record) === earlier.recordText ? [] : [write(files.record, printRecord(record))]),
    ...(launcher.action === 'unchanged' ? [] : [write(files.launcher, input.launcher.wanted, 0o700)]),
    ...(former.action === 'unchanged' ? [] : put.former ? [write(files.former, put.former)] : [gone(files.former)]),
    ...settings.missingFolders.map(
      (path): Step => ({ do: 'make-folder', path, mode: input.scope === 'user' ? 0o700 : 0o755 }),
    ),
    ...mod.steps,
    ...(same
      ? []
      : [
          {
            do: 'write',
            path: settings.path,
            bytes,
            mode: settings.mode ?? 0o600,
            expect: settings.bytes,
          } satisfies Step,
        ]),
  ]
  return {
    steps: steps.every((s) => s.do === 'make-folder') ? [] : steps,
    files: [change, launcher, ...(input.former === null && !put.former ? [] : [former]), ...mod.files],
    notes: [...earlier.notes, ...put.notes, ...(mod.note ? [mod.note] : [])],
    settings: [settings.path],
  }
}

const privateFolder = (path: string): Step => ({ do: 'make-folder', path, mode: 0o700 })
const write = (path: string, text: string | Buffer, mode = 0o600): Step => ({
  do: 'write',
  path,
  bytes: Buffer.from(text),
  mode,
})
const gone = (path: string): Step => ({ do: 'remove', path })
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

function changeOf(path: string, wanted: string | null, found: string | null): FileChange {
  const action = wanted === found ? 'unchanged' : wanted === null ? 'removed' : found === null ? 'created' : 'changed'
  return { path, action, backup: null }
}

/**
 * Plans backups of the current bytes and, if different, of the file without Baton.
 * Content that an earlier backup holds is not stored again.
 */
function planBackups(input: InstallInput, blank: Buffer | null, changes: boolean) {
  const { settings, earlier } = input
  const folder = installFiles(input.home, settings.key).backups
  const steps: Step[] = []
  const keep = (bytes: Buffer | null): string | null => {
    if (bytes === null) return null
    if (earlier.before?.equals(bytes)) return earlier.record!.before!.backup
    const path = join(folder, backupName(input.now, sha256(bytes)))
    steps.push(write(path, bytes))
    return path
  }
  const needed = changes || earlier.record === null
  const current = changes ? keep(settings.bytes) : null
  const kept = !needed ? null : current && blank?.equals(settings.bytes!) ? current : keep(blank)
  return {
    current,
    blank: kept,
    steps: steps.length > 0 ? [privateFolder(dirname(folder)), privateFolder(folder), ...steps] : [],
  }
}

/**
 * Returns the hashes of contents that we wrote.
 * If the content without Baton is unchanged, an interrupted run may have left the previous one.
 */
function shasOver(earlier: EarlierInstall, blank: Buffer | null, current: Buffer | null, next: Buffer): string[] {
  const beneath = earlier.record && (blank === null ? !earlier.record.existed : earlier.before?.equals(blank))
  const before = beneath && current && earlier.record!.after.includes(sha256(current)) ? [sha256(current)] : []
  return [...new Set([...before, sha256(next)])]
}

function calledFromElsewhere(path: string, launcher: string): InstallProblem {
  const home = dirname(dirname(launcher))
  return new InstallProblem(
    path,
    `the file already calls Baton with another home, ${home}`,
    `Run \`BATON_HOME=${quoteForShell(home)} baton uninstall\` first, or install with that BATON_HOME. ` +
      'With two homes, every message would appear twice.',
  )
}
