import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import type { ConfigProblem } from '../contract/policy.js'
import type { Home } from '../lib/home.js'
import { readYaml } from '../lib/yaml-file.js'
import { BUILT_IN, checkSettings } from './check-settings.js'
import { addLayer } from './compile-layer.js'
import { type CompiledConfig, emptyConfig, type FileStamp, type LayerSource, type Note } from './compiled.js'
import { type Env, withEnvironment } from './environment.js'
import { findProjectFile, PROJECT_FILE, stampOf } from './find-project.js'
import { type Place, problemAt } from './finding.js'
import { notesOn, notesOnOrder } from './notes.js'

export interface LoadOptions {
  home: Pick<Home, 'config'>
  /** Where the search for the project's file begins; null: `cwd`, and without that no project file. */
  project: string | null
  cwd?: string
  env: Env
  /** What the command line says, in the shape of a file. */
  flags?: Record<string, unknown>
}

export interface Loaded {
  /** False: something is refused, and `config` leaves out every source that has a problem. */
  ok: boolean
  problems: ConfigProblem[]
  notes: Note[]
  files: FileStamp[]
  config: CompiledConfig
}

interface Source {
  source: LayerSource
  from: string
  place: Place
  raw: unknown
}

/** Reads, checks and compiles everything that configures Baton. Never throws: what is wrong is in `problems`. */
export function loadConfig({ home, project, cwd, env, flags }: LoadOptions): Loaded {
  const userHome = env.HOME || homedir()
  const start = project ?? cwd ?? null
  const paths: [LayerSource, string][] = [['user', home.config]]
  if (start !== null) paths.push(['project', findProjectFile(start, userHome) ?? join(start, PROJECT_FILE)])

  const loaded: Loaded = { ok: true, problems: [], notes: [], files: [], config: emptyConfig() }
  const sources: Source[] = []
  for (const [source, path] of paths) {
    const { exists, mtimeMs, size } = stampOf(path)
    loaded.files.push({ path, exists, mtimeMs, size })
    if (!exists) loaded.notes.push(...notesOnOtherName(path))
    else sources.push(...readSource(source, path, userHome, loaded.problems))
  }
  let reach = BUILT_IN
  for (const source of sources) reach = take(loaded, source, reach, userHome)

  const withEnv = withEnvironment(loaded.config, env)
  loaded.config = withEnv.config
  loaded.problems.push(...withEnv.problems)
  const line: Place = { file: 'command line', lineOf: () => null }
  if (flags) take(loaded, { source: 'flags', from: 'command line', place: line, raw: flags }, reach, userHome)
  return { ...loaded, ok: loaded.problems.length === 0 }
}

function readSource(source: LayerSource, path: string, userHome: string, problems: ConfigProblem[]): Source[] {
  const { value, faults, lineOf } = readYaml(path)
  for (const { line, reason, hint } of faults) {
    problems.push({
      key: '',
      file: path,
      reason: line === null ? reason : `line ${line}: ${reason}`,
      hint,
      ...(line === null ? {} : { line }),
    })
  }
  if (faults.length > 0) return []
  const short = path.startsWith(`${userHome}/`) ? `~${path.slice(userHome.length)}` : path
  return [{ source, from: `${source} file ${short}`, place: { file: path, lineOf }, raw: value }]
}

/** Adds one source to what is loaded, or its problems. Gives back what the next source may refer to. */
function take(loaded: Loaded, { source, from, place, raw }: Source, below: typeof BUILT_IN, userHome: string): typeof BUILT_IN {
  const { findings, written, reach } = checkSettings(raw, source, below)
  loaded.problems.push(...findings.map((finding) => problemAt(place, finding)))
  if (!written) return reach
  loaded.config = addLayer(loaded.config, written, { source, from }, userHome)
  loaded.notes.push(...notesOn(written, place.file))
  loaded.notes.push(...notesOnOrder(loaded.config, loaded.config.layers.at(-1)?.set.levels ?? [], place.file))
  return reach
}

/** A file that a person may take for the configuration, and that nobody reads. */
function notesOnOtherName(path: string): Note[] {
  const other = path.replace(/\.yaml$/, '.yml')
  return other !== path && existsSync(other) ? [{ key: '', file: other, text: `not read: rename it to ${basename(path)}` }] : []
}
