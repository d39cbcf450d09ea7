import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { InstallProblem } from '../agents/shared/install-problem.js'
import { FileChanged, realTarget, removeFileIf, removeLeftovers, writeFileAtomic } from '../lib/atomic-file.js'
import { errorCodeOf, reasonOf } from '../lib/errors.js'
import { quoteForShell } from '../lib/shell-words.js'
import type { FileChange, Plan, Step } from './plan.js'

export interface AppliedPlan {
  changed: boolean
  files: FileChange[]
  notes: string[]
}

export interface ApplyOptions {
  dryRun?: boolean
  /**
   * Called before every step and in the middle of writing a file. A test kills the process there.
   */
  step?: (name: string) => void
}

/**
 * Carries out a plan. Throws FileChanged when a settings file has changed since the plan was made.
 */
export function applyPlan(plan: Plan, options: ApplyOptions = {}): AppliedPlan {
  for (const step of plan.steps) checkWritable(step)
  if (!options.dryRun) {
    for (const folder of foldersOf(plan)) removeLeftovers(folder)
    for (const step of plan.steps) {
      options.step?.(`${step.do} ${step.path}`)
      attempt(step, options.step)
    }
  }
  return { changed: plan.files.some((f) => f.action !== 'unchanged'), files: plan.files, notes: plan.notes }
}

function foldersOf(plan: Plan): Set<string> {
  const inside = plan.steps.map((s) => (s.do === 'remove-folder-if-empty' ? s.path : dirname(realTarget(s.path))))
  return new Set([...plan.settings.map((path) => dirname(realTarget(path))), ...inside])
}

function attempt(step: Step, between?: (name: string) => void): void {
  try {
    carryOut(step, between)
  } catch (error) {
    if (error instanceof FileChanged || errorCodeOf(error) === undefined) throw error
    throw new InstallProblem(
      step.path,
      `the file could not be written: ${reasonOf(error)}`,
      'Fix that, then run the same command again. It continues from here.',
    )
  }
}

function carryOut(step: Step, between?: (name: string) => void): void {
  if (step.do === 'make-folder') {
    if (!existsSync(step.path)) mkdirSync(realTarget(step.path), { recursive: true, mode: step.mode })
  } else if (step.do === 'write') {
    writeFileAtomic(step.path, step.bytes, { mode: step.mode, expect: step.expect, step: between })
  } else if (step.do === 'remove') {
    if (step.expect) removeFileIf(step.path, step.expect)
    else rmSync(step.path, { force: true })
  } else if (step.do === 'remove-tree') {
    removeTree(step.path, step.last, between)
  } else {
    removeIfEmpty(step.path)
  }
}

function removeTree(path: string, last: string, between?: (name: string) => void): void {
  if (!existsSync(path)) return
  for (const name of readdirSync(path)) {
    if (name !== last) rmSync(join(path, name), { recursive: true, force: true })
  }
  between?.(`last of ${path}`)
  rmSync(path, { recursive: true, force: true })
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) throw error
  }
}

/**
 * Refuses before the first step.
 * A rename would replace a read-only file, but its owner made it read-only on purpose.
 */
function checkWritable(step: Step): void {
  if (step.do === 'remove-folder-if-empty') return
  const real = realTarget(step.path)
  if (step.do === 'write' && existsSync(real) && !writable(real, constants.W_OK)) {
    throw new InstallProblem(
      step.path,
      'the file is read-only',
      `Run chmod u+w ${quoteForShell(step.path)} and try again. If a tool generates the file, change it there.`,
    )
  }
  const folder = existing(step.do === 'remove-tree' ? real : dirname(real))
  if (!statSync(folder).isDirectory())
    throw new InstallProblem(step.path, `${folder} is not a folder`, 'Move that file away and try again.')
  if (!writable(folder, constants.W_OK | constants.X_OK)) {
    throw new InstallProblem(
      step.path,
      `the folder ${folder} is not writable`,
      `Run chmod u+w ${quoteForShell(folder)} and try again.`,
    )
  }
}

/** Returns whether files and folders can be created in the nearest existing folder above `path`. */
export function canCreateBelow(path: string): boolean {
  return writable(existing(dirname(realTarget(path))), constants.W_OK | constants.X_OK)
}

/** Returns whether a path is writable. Checks the mode too, because root may write everything. */
function writable(path: string, access: number): boolean {
  try {
    accessSync(path, access)
    return (statSync(path).mode & 0o222) !== 0
  } catch {
    return false
  }
}

function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path))
}
