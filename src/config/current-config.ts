import { homedir } from 'node:os'
import type { ConfigProblem, ProjectFile } from '../contract/policy.js'
import type { Home } from '../lib/home.js'
import { type CompiledConfig, emptyConfig } from './compiled.js'
import { type CompiledCopy, fileListKey, readCompiledCopy, writeCompiledCopy } from './compiled-copy.js'
import { type Env, withEnvironment } from './environment.js'
import { fileStampOf, findProjectFile } from './find-project.js'
import type { LoadedConfig, LoadOptions } from './load-config.js'
import { acceptedHash, realFolderOf } from './trust.js'

/** Everything needed to find the configuration of one project. */
interface CurrentOptions {
  home: Pick<Home, 'config' | 'compiled' | 'trust'>
  project: string | null
  env: Env
  /** Calls `loadConfig`, imported on demand because it loads the YAML and schema libraries. */
  load(options: LoadOptions): LoadedConfig
  /**
   * Copies that a long-running process already knows.
   * Unchanged files then cost a check of their times and no reading.
   */
  memory?: Map<string, CompiledCopy>
}

/** The configuration in force and its problems. */
interface CurrentConfig {
  config: CompiledConfig
  /**
   * Current problems of the files or the environment.
   * When there are some, `config` is not what the files say.
   */
  problems: ConfigProblem[]
  /**
   * last-good: the files are refused, and an earlier state of them is in force.
   * valid-files: the files are refused and there is no earlier state.
   */
  using: 'defaults' | 'files' | 'last-good' | 'valid-files'
  /**
   * Changes whenever a file or the trust in it does.
   * The user is told of problems once per mark.
   */
  mark: string
  /** The project's file and whether the user accepted it. Null when there is none. */
  project: ProjectFile | null
}

/**
 * Returns the configuration in force. Never throws.
 * Without files, the built-in defaults; with unchanged files, their compiled copy.
 * Changed files are loaded, and a new copy is stored for the next process.
 * Refused files never stop a session: the last good configuration stays, and `problems` lists why.
 */
export function currentConfig({ home, project, env, load, memory }: CurrentOptions): CurrentConfig {
  const projectFile = project === null ? null : findProjectFile(project, env.HOME || homedir())
  const paths = projectFile === null ? [home.config] : [home.config, projectFile]
  const stamps = paths.map(fileStampOf)
  const names = fileListKey(paths)
  const accepted = projectFile === null ? null : acceptedIn(home.trust, projectFile)
  const mark = `${names}${stamps.map((stamp) => stamp.mark).join('|')}${accepted === null ? '' : `|${accepted}`}`
  if (!stamps.some(({ exists }) => exists))
    return withEnv({ config: emptyConfig(), problems: [], using: 'defaults', mark, project: null }, env)

  const known = memory?.get(names)
  const kept = known?.mark === mark ? known : (readCompiledCopy(home.compiled, paths) ?? known)
  if (kept?.mark === mark) {
    memory?.set(names, kept)
    return withEnv(currentOf(kept), env)
  }
  // The copy holds only the files; each session adds its own environment.
  const userPaths = [home.config]
  const userNames = fileListKey(userPaths)
  const user = projectFile === null ? kept : (readCompiledCopy(home.compiled, userPaths) ?? memory?.get(userNames))
  const lastGoodUser = user?.good === true ? user.config : null
  const loaded = load({ home, project, env: { HOME: env.HOME }, lastGoodUser })
  const userMark = `${userNames}${stamps[0]!.mark}`
  // Every load also stores a copy of the user's file alone.
  // The user's copy stays valid after a project's file changes, and in other projects' folders.
  if (projectFile !== null && loaded.userConfig !== null && user?.mark !== userMark) {
    const now = { config: loaded.userConfig, problems: [], project: null, trusted: null }
    const userCopy: CompiledCopy = { version: 4, mark: userMark, good: true, ...now }
    writeCompiledCopy(home.compiled, userPaths, userCopy)
    memory?.set(userNames, userCopy)
  }
  const copy = copyOf(loaded, mark, kept, lastGoodUser === null ? null : home.config)
  writeCompiledCopy(home.compiled, paths, copy)
  memory?.set(names, copy)
  return withEnv(currentOf(copy), env)
}

/**
 * Returns the part of the mark that changes with trust, or when the path leads to another folder.
 */
function acceptedIn(trustFolder: string, projectFile: string): string {
  const folder = realFolderOf(projectFile)
  return `${folder} ${folder === null ? null : acceptedHash(trustFolder, folder)}`
}

/**
 * Creates the copy to store for a load.
 * When a file was refused, the last good configuration stays in force, with two exceptions.
 * The copy must not include a project file that is no longer trusted.
 * An untrusted project file must not keep the user's own file from changing.
 * `replaced`: path of the user's file when its last good state is used in `loaded`; null otherwise.
 */
function copyOf(
  loaded: LoadedConfig,
  mark: string,
  kept: CompiledCopy | null | undefined,
  replaced: string | null,
): CompiledCopy {
  const { config, problems, project } = loaded
  const trusted = project?.trusted ? project.sha256 : null
  const now = { version: 4, mark, config, problems, project, trusted } as const
  const untrusted = project?.trusted === false ? project.path : null
  const others = problems.filter(({ file }) => file !== untrusted && file !== replaced)
  if (others.length === 0) return { ...now, good: true }
  const lastGood = kept?.good === true && kept.trusted === trusted ? kept : null
  return lastGood ? { ...now, config: lastGood.config, good: true } : { ...now, good: false }
}

function currentOf({ config, problems, good, mark, project }: CompiledCopy): CurrentConfig {
  const refused = project?.trusted === false ? problems.some(({ file }) => file !== project.path) : problems.length > 0
  const using = problems.length === 0 ? 'files' : good && refused ? 'last-good' : 'valid-files'
  return { config, problems, using, mark, project }
}

function withEnv(current: CurrentConfig, env: Env): CurrentConfig {
  const { config, problems } = withEnvironment(current.config, env)
  return { ...current, config, problems: [...current.problems, ...problems] }
}
