import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { clients } from '../agents/clients.js'
import type { ModFile } from '../agents/installer.js'
import { installers } from '../agents/installers.js'
import { archivePaths } from '../archive/archive-folders.js'
import { parseFileName, SUFFIX } from '../archive/file-name.js'
import { briefSkill } from '../briefs/brief-skill.js'
import { stemOf as briefStemOf } from '../briefs/keep-file.js'
import { requestText } from '../briefs/request-text.js'
import type { JobRecord } from '../contract/records/job.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import type { Home } from '../lib/home.js'
import { isAlive } from '../lib/process-info.js'
import { engineOf, type ProgramContext } from '../lib/program-context.js'
import { openStore } from '../store/sqlite/sqlite.js'
import { VERSION } from '../version.js'
import { homeFiles } from './home-files.js'
import { foldersFile, rememberedFolders, removeEmptyFolders } from './made-folders.js'
import { isLink, type Left, type PurgeRules, purgeHome, removeLink } from './purge-home.js'

type InstalledProgram = Pick<ProgramContext, 'env' | 'program'>

export const AGENT_NAMES: readonly string[] = Object.keys(installers)

/** The launcher's text for this machine, as far as its parts can be found. */
export function launcherHere(agent: string, home: Home, program: InstalledProgram): string {
  const bash = findProgram('bash', program.env) ?? '/bin/bash'
  return installers[agent]!.launcher({ bash, home, node: process.execPath, engine: engineOf(program) })
}

/** The same, for an install. Throws when what it would start is not there. */
export function launcherFor(agent: string, home: Home, program: InstalledProgram): string {
  if (findProgram('bash', program.env) === null) {
    throw new BatonError('bash was not found: the hooks need it.', 'Install bash and run baton install again.')
  }
  if (!existsSync(engineOf(program))) {
    throw new BatonError(
      `The package is not complete: ${engineOf(program)} is missing.`,
      'Install it again: npm install -g baton-cli',
    )
  }
  return launcherHere(agent, home, program)
}

/** Said when the program will not stay where it is: hooks would then do nothing. */
export function passingPlace(program: string): string | null {
  if (!/[\\/]_npx[\\/]/.test(program)) return null
  return 'Baton was started by npx from a cache that may be cleared: npm install -g baton-cli, then run baton install again.'
}

/** The mod as this Baton writes it for this home. */
export function modHere(agent: string, home: Home): ModFile[] {
  const options = { liveDir: home.live, version: VERSION, requestPrompt: requestText(), briefSkill: briefSkill() }
  return installers[agent]!.modFiles(options)
}

/** Files a database brings along. */
const BESIDE = ['', '-wal', '-shm', '-journal', '.damaged']

/** Everything Baton makes in its home. Not the configuration, which the user wrote. */
function purgeRules({ root, config, ...places }: Home): PurgeRules {
  const { index, ...archive } = archivePaths(root)
  const files = [
    ...Object.values(places),
    `${places.log}.1`,
    ...Object.values(archive),
    ...Object.values(homeFiles(root, 'any')),
    ...Object.values(clients).flatMap(({ liveFiles }) => liveFiles?.folders(places.live) ?? []),
    foldersFile(root),
  ]
  const databases = [places.store, index].flatMap((path) => BESIDE.map((end) => path + end))
  const names = [...files, ...databases].map((path) => relative(root, path).split(sep, 1)[0]!)
  return {
    names: [...new Set(names)].filter((name) => name !== '..' && join(root, name) !== config),
    owns: {
      [relative(root, dirname(places.launcher))]: (path) => path === 'hook',
      [relative(root, archive.folder)]: (path) =>
        /^(pending\/(arc_\w+\.\d+)?|records\/)$/.test(path) ||
        parseFileName(path.replace(/^records\/(.+)\.json$/, `$1${SUFFIX}`)) !== null,
      [relative(root, places.briefs)]: (path) => {
        const [seat, file, ...deeper] = path.split('/')
        return /^seat_[\w-]+$/.test(seat!) && deeper.length === 0 && (file === '' || briefStemOf(file ?? '') !== null)
      },
    },
  }
}

/**
 * Jobs in the store; none when there is no store or it cannot be read: a damaged one must not
 * prevent its own removal.
 */
export function storedJobs(home: Home): JobRecord[] {
  if (!existsSync(home.store)) return []
  try {
    const store = openStore(home.store)
    try {
      return store.jobs()
    } finally {
      store.close()
    }
  } catch (error) {
    if (error instanceof BatonError) return []
    throw error
  }
}

/**
 * Removes the data, the log and the folders that were made for them. Returns what stays, and why.
 */
export function purgeData(home: Home, jobs: readonly JobRecord[], dryRun: boolean): Left[] {
  const folders = rememberedFolders(home.root)
  // Behind a linked home the configuration stays with everything else there, and the target of the
  // link is listed instead.
  const listsConfig = existsSync(home.config) && !(isLinked(home) && dirname(home.config) === resolve(home.root))
  const left = purgeHome(home.root, purgeRules(home), new Set([home.config]), dryRun)
  if (dirname(home.log) !== resolve(home.root)) left.push(...removeLog(home, dryRun))
  if (!dryRun) removeEmptyFolders(folders)
  if (listsConfig) left.push({ path: home.config, reason: 'your configuration' })
  for (const { jobId, workspace } of jobs) {
    const worktree = workspace?.worktree
    if (worktree && existsSync(worktree.path))
      left.push({
        path: worktree.path,
        reason: `worktree of job ${jobId} with its branch ${worktree.branch}; git worktree remove removes it`,
      })
  }
  return left
}

export const isLinked = (home: Home): boolean => isLink(resolve(home.root))

/**
 * Removes a log outside of the home, and its folder when that is empty then. Returns targets of
 * links, which stay.
 */
function removeLog(home: Home, dryRun: boolean): Left[] {
  const left = [home.log, `${home.log}.1`].flatMap((path) => {
    if (isLink(path)) return removeLink(path, null, dryRun)
    if (!dryRun) rmSync(path, { force: true })
    return []
  })
  const folder = dirname(home.log)
  if (!dryRun && existsSync(folder) && !isLink(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
  return left
}

/**
 * A job that runs would write its log and journal again, and its client would lose its hooks in the
 * middle of the work.
 */
export function refuseWhileRunning(jobs: readonly JobRecord[]): void {
  const running = jobs.filter(({ runner }) => runner !== null && isAlive(runner))
  if (running.length === 0) return
  const ids = running.map(({ jobId }) => jobId)
  throw new BatonError(
    `${ids.length === 1 ? `Job ${ids[0]} is` : `Jobs ${ids.join(', ')} are`} running.`,
    `Wait for the end, or end ${ids.length === 1 ? 'it' : 'each of them'} (baton jobs cancel ${ids[0]}), then run the command again.`,
    EXIT.refused,
    { jobs: ids },
  )
}
