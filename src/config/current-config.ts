import { homedir } from 'node:os'
import type { ConfigProblem, ProjectFile } from '../contract/policy.js'
import type { Home } from '../lib/home.js'
import { type CompiledConfig, emptyConfig } from './compiled.js'
import { type CompiledCopy, namesMark, readCompiled, writeCompiled } from './compiled-copy.js'
import { type Env, withEnvironment } from './environment.js'
import { findProjectFile, stampOf } from './find-project.js'
import type { Loaded, LoadOptions } from './load-config.js'
import { acceptedHash, folderOf } from './trust.js'

interface CurrentOptions {
  home: Pick<Home, 'config' | 'compiled' | 'trust'>
  project: string | null
  env: Env
  /** `loadConfig`, imported only when it is called: it brings the YAML and schema libraries. */
  load(options: LoadOptions): Loaded
  /** For a process that lives on: what it knows already, so that unchanged files cost a look at their times and no reading. */
  memory?: Map<string, CompiledCopy>
}

export interface Current {
  config: CompiledConfig
  /** What is wrong with the files (or the environment) right now. Not empty: `config` is not what they say. */
  problems: ConfigProblem[]
  /** `last-good`: the files are refused, an earlier state of them goes on. `valid-files`: refused, and there is no earlier state. */
  using: 'defaults' | 'files' | 'last-good' | 'valid-files'
  /**
   * Changes whenever a file or the trust in it does: whoever tells people of problems tells them
   * once per mark.
   */
  mark: string
  /** The project's file and whether the user accepted it; null without one. */
  project: ProjectFile | null
}

/**
 * The configuration to work with now, cheaply: with no files, the built-in defaults; with files that have not changed, their
 * compiled copy; else they are loaded, and a new copy is left for the next process. Files that are refused never stop a session:
 * the last good configuration goes on, and `problems` says so. Never throws.
 */
export function currentConfig({ home, project, env, load, memory }: CurrentOptions): Current {
  const projectFile = project === null ? null : findProjectFile(project, env.HOME || homedir())
  const paths = projectFile === null ? [home.config] : [home.config, projectFile]
  const stamps = paths.map(stampOf)
  const names = namesMark(paths)
  const accepted = projectFile === null ? null : acceptedIn(home.trust, projectFile)
  const mark = `${names}${stamps.map((stamp) => stamp.mark).join('|')}${accepted === null ? '' : `|${accepted}`}`
  if (!stamps.some(({ exists }) => exists))
    return withEnv({ config: emptyConfig(), problems: [], using: 'defaults', mark, project: null }, env)

  const known = memory?.get(names)
  const kept = known?.mark === mark ? known : (readCompiled(home.compiled, paths) ?? known)
  if (kept?.mark === mark) {
    memory?.set(names, kept)
    return withEnv(currentOf(kept), env)
  }
  // The copy holds what the files say; the environment differs from session to session and is added by each.
  const userPaths = [home.config]
  const userNames = namesMark(userPaths)
  const user = projectFile === null ? kept : (readCompiled(home.compiled, userPaths) ?? memory?.get(userNames))
  const lastGoodUser = user?.good === true ? user.config : null
  const loaded = load({ home, project, env: { HOME: env.HOME }, lastGoodUser })
  const userMark = `${userNames}${stamps[0]!.mark}`
  // Every load leaves the user's file alone as a copy, too: it must survive whatever the project's
  // file does later, in a folder where the two were never read together.
  if (projectFile !== null && loaded.userConfig !== null && user?.mark !== userMark) {
    const now = { config: loaded.userConfig, problems: [], project: null, trusted: null }
    const userCopy: CompiledCopy = { version: 4, mark: userMark, good: true, ...now }
    writeCompiled(home.compiled, userPaths, userCopy)
    memory?.set(userNames, userCopy)
  }
  const copy = copyOf(loaded, mark, kept, lastGoodUser === null ? null : home.config)
  writeCompiled(home.compiled, paths, copy)
  memory?.set(names, copy)
  return withEnv(currentOf(copy), env)
}

/**
 * The part of the mark that changes when trust is given or taken back, or when the folder is
 * another one now.
 */
function acceptedIn(trustFolder: string, projectFile: string): string {
  const folder = folderOf(projectFile)
  return `${folder} ${folder === null ? null : acceptedHash(trustFolder, folder)}`
}

/**
 * Makes the copy to keep of a load. Files that are refused leave the last good configuration in
 * force, with two exceptions: it must not hold a project file that is not trusted any more, and an
 * untrusted file must not keep the user's own from changing. `replaced`: the user's file when its
 * last good state stands in for it in `loaded`; null when there is none.
 */
function copyOf(
  loaded: Loaded,
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

function currentOf({ config, problems, good, mark, project }: CompiledCopy): Current {
  const refused = project?.trusted === false ? problems.some(({ file }) => file !== project.path) : problems.length > 0
  const using = problems.length === 0 ? 'files' : good && refused ? 'last-good' : 'valid-files'
  return { config, problems, using, mark, project }
}

function withEnv(current: Current, env: Env): Current {
  const { config, problems } = withEnvironment(current.config, env)
  return { ...current, config, problems: [...current.problems, ...problems] }
}
