import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { agentClients } from '../agents/clients.js'
import { findProjectFile, PROJECT_FILE } from '../config/find-project.js'
import { type LoadedConfig, loadConfig } from '../config/load-config.js'
import { realFolderOf, removeTrust, storeTrust } from '../config/trust.js'
import { demandsOf, type FileDemands } from '../config/untrusted.js'
import type { ProjectFile } from '../contract/policy.js'
import { realTarget } from '../lib/atomic-file.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { batonHome, type Home } from '../lib/home.js'
import { ancestorsOf } from '../lib/process-info.js'
import { environmentOfProcess } from '../lib/process-place.js'
import { displayPath } from '../lib/replace-controls.js'

type Env = Record<string, string | undefined>

/** The environment of the program in which the user gives or withdraws trust. */
interface TrustContext {
  env: Env
  now(): Date
}

export interface AcceptableFile extends ProjectFile {
  folder: string
  sha256: string
}

/** Accepts the exact bytes of a project's file. Throws when it is missing or cannot be accepted. */
export function trustProject(
  { env, now }: TrustContext,
  folder: string,
): { file: AcceptableFile; demands: FileDemands; changed: boolean } {
  refuseInAgentSession(env)
  const home = batonHome(env)
  const loaded = loadConfig({ home, project: folder, env })
  if (loaded.project === null)
    throw new BatonError(
      `There is no ${PROJECT_FILE} for ${displayPath(folder, env.HOME)}.`,
      'Name the folder of the project: baton trust --project DIR.',
      EXIT.notFound,
    )
  const file = checkAcceptable(loaded)
  const changed = loaded.project.trusted === false
  if (changed) storeTrust(home.trust, file, now())
  return { file, demands: demandsOf(loaded.projectValue), changed }
}

/**
 * Withdraws the trust in a project's file. The folder may be gone while its record still exists.
 */
export function withdrawTrust(
  { env }: Pick<TrustContext, 'env'>,
  folder: string,
): { changed: boolean; project: string; path: string } {
  refuseInAgentSession(env)
  const path = findProjectFile(folder, env.HOME || homedir()) ?? join(folder, PROJECT_FILE)
  const project = realFolderOf(path) ?? realTarget(folder)
  return { changed: removeTrust(batonHome(env).trust, project), project, path }
}

/**
 * Accepts an untrusted file before a job, by `--trust` (`isAccepted`) or by the user's answer.
 * `confirm` is null when no user can be asked.
 */
export async function trustBeforeRun(
  { env, now, cwd }: TrustContext & { cwd: string },
  isAccepted: boolean,
  confirm: ((file: AcceptableFile, demands: FileDemands) => Promise<boolean>) | null,
): Promise<void> {
  const home = batonHome(env)
  const loaded = loadConfig({ home, project: cwd, env })
  const file = loaded.project
  // `resolveJobRequest` refuses files with errors, and untrusted files when no user can be asked.
  if (file === null || file.trusted || file.ignored.length === 0 || !loaded.ok) return
  if (isAccepted) refuseInAgentSession(env)
  else if (confirm === null || agentSessionAround(env) !== null) return
  const acceptable = checkAcceptable(loaded)
  if (!isAccepted && !(await confirm!(acceptable, demandsOf(loaded.projectValue)))) return
  storeTrust(home.trust, acceptable, now())
}

/** Accepts the project's file in a worktree if the user accepted the same bytes in the project. */
export function copyTrustToWorktree(home: Home, { env, now }: TrustContext, from: string, worktree: string): void {
  const fileIn = (project: string) => loadConfig({ home, project, env }).project
  const [original, copy] = [fileIn(from), fileIn(worktree)]
  if (!original?.trusted || copy?.reason !== 'not accepted yet') return
  const { folder, sha256 } = copy
  if (folder !== null && sha256 !== null && sha256 === original.sha256)
    storeTrust(home.trust, { folder, sha256 }, now())
}

/**
 * Throws when a file cannot be accepted: it is invalid or unreadable, or another user owns it.
 * A file of another user is refused, because that user could change it at any time.
 */
function checkAcceptable({ project, problems }: LoadedConfig): AcceptableFile {
  const { path, folder, sha256, reason } = project!
  if (reason === 'belongs to another user')
    throw new BatonError(
      `${path} belongs to another user and cannot be trusted.`,
      'Make a copy that belongs to you, read it, then run baton trust.',
      EXIT.refused,
    )
  const wrong = problems.find(({ file }) => file === path)
  if (wrong)
    throw new BatonError(
      `${path} has errors: ${wrong.key ? `${wrong.key}: ` : ''}${wrong.reason}.`,
      wrong.hint || 'Run baton config check.',
      EXIT.usage,
      { problems },
    )
  if (folder === null || sha256 === null)
    throw new BatonError(`${path} cannot be read.`, 'Check that it is a file and that you may read it.', EXIT.failed)
  return { ...project!, folder, sha256 }
}

/** Refuses inside an agent's session: an agent could accept a file that it wrote itself. */
function refuseInAgentSession(env: Env): void {
  const why = agentSessionAround(env)
  if (why === null) return
  throw new BatonError(
    `Only a user can change trust, and this command runs inside an agent's session (${why}).`,
    'Run it in your own terminal.',
    EXIT.refused,
  )
}

/** Variables that a client, or Baton, sets for the commands of an agent. */
const SIGNS = [...Object.values(agentClients).flatMap(({ signs }) => signs), 'BATON_JOB_ID', 'BATON_SEAT']

/**
 * Returns why this process counts as run by an agent.
 * Null when no agent runs this process.
 * An agent can unset variables for one command, so the parent processes are checked too.
 * A parent is an agent by its start environment or by the client's registry.
 */
function agentSessionAround(env: Env, ancestors: readonly number[] = ancestorsOf(process.pid)): string | null {
  const own = findSign(env)
  if (own !== null) return `${own} is set`
  for (const pid of ancestors) {
    const theirs = environmentOfProcess(pid) ?? {}
    const sign = findSign(theirs)
    if (sign !== null) return `process ${pid} above this one has ${sign}`
    const environments = [env, theirs, { HOME: ownHome() }]
    if (Object.values(agentClients).some((client) => client.isClient?.(pid, environments)))
      return `process ${pid} above this one is a client`
  }
  return null
}

function findSign(env: Env): string | null {
  return SIGNS.find((name) => env[name]) ?? null
}

/** Returns the home folder from the system, whatever the environment says. */
function ownHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    return undefined
  }
}
