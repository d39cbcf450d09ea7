import { homedir } from 'node:os'
import type { ConfigProblem } from '../contract/policy.js'
import type { Home } from '../lib/home.js'
import { type CompiledConfig, emptyConfig } from './compiled.js'
import { type CompiledCopy, namesMark, readCompiled, writeCompiled } from './compiled-copy.js'
import { type Env, withEnvironment } from './environment.js'
import { findProjectFile, stampOf } from './find-project.js'
import type { Loaded, LoadOptions } from './load-config.js'

export interface CurrentOptions {
  home: Pick<Home, 'config' | 'compiled'>
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
  /** Changes whenever a file does: whoever tells people of problems tells them once per mark. */
  mark: string
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
  const mark = `${names}${stamps.map((stamp) => stamp.mark).join('|')}`
  if (!stamps.some(({ exists }) => exists)) return withEnv({ config: emptyConfig(), problems: [], using: 'defaults', mark }, env)

  const known = memory?.get(names)
  const kept = known?.mark === mark ? known : (readCompiled(home.compiled, paths) ?? known)
  if (kept?.mark === mark) {
    memory?.set(names, kept)
    return withEnv(currentOf(kept), env)
  }
  // The copy holds what the files say; the environment differs from session to session and is added by each.
  const loaded = load({ home, project, env: { HOME: env.HOME } })
  const copy: CompiledCopy = loaded.ok
    ? { version: 1, mark, good: true, config: loaded.config, problems: [] }
    : { version: 1, mark, good: kept?.good === true, config: kept?.good ? kept.config : loaded.config, problems: loaded.problems }
  writeCompiled(home.compiled, paths, copy)
  memory?.set(names, copy)
  return withEnv(currentOf(copy), env)
}

function currentOf({ config, problems, good, mark }: CompiledCopy): Current {
  const using = problems.length === 0 ? 'files' : good ? 'last-good' : 'valid-files'
  return { config, problems, using, mark }
}

function withEnv(current: Current, env: Env): Current {
  const { config, problems } = withEnvironment(current.config, env)
  return { ...current, config, problems: [...current.problems, ...problems] }
}
