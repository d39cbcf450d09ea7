import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import type { Position } from '../contract/level.js'
import type { ConfigProblem, ProjectFile } from '../contract/policy.js'
import type { Home } from '../lib/home.js'
import { isOwnedBy } from '../lib/named-file.js'
import { readYaml } from '../lib/yaml-file.js'
import { BUILT_IN_NAMES, checkSettings, knownNamesOf } from './check-settings.js'
import { addLayer } from './compile-layer.js'
import {
  type CompiledConfig,
  emptyConfig,
  type FileStamp,
  type KeyNote,
  type LayerSource,
  type LevelChange,
} from './compiled.js'
import { type Env, withEnvironment } from './environment.js'
import { fileStampOf, findProjectFile, PROJECT_FILE } from './find-project.js'
import { keyText, problemAt, type SourcePlace } from './finding.js'
import { policyFor } from './policy-for.js'
import { comparePositions } from './position.js'
import { presetLevels } from './presets.js'
import type { WrittenConfig, WrittenPolicy } from './schema.js'
import { acceptedHash, realFolderOf } from './trust.js'
import { addAllowedUntrustedKeys } from './untrusted.js'

/** Everything that determines the configuration. */
export interface LoadOptions {
  home: Pick<Home, 'config' | 'trust'>
  /**
   * Start of the search for the project's file.
   * Null to start at `cwd`; without that, no project file is read.
   */
  project: string | null
  cwd?: string
  env: Env
  /** Settings of the command line, in the shape of a file. */
  flags?: Record<string, unknown>
  /**
   * The last valid settings of the user's file. Used in its place while the file has a problem.
   */
  lastGoodUser?: CompiledConfig | null
}

/** The result of loading all sources. */
export interface LoadedConfig {
  /** False when a source has a problem. `config` then omits every source with a problem. */
  ok: boolean
  problems: ConfigProblem[]
  notes: KeyNote[]
  files: FileStamp[]
  config: CompiledConfig
  /** The settings of the user's file alone. Null when the file is refused. */
  userConfig: CompiledConfig | null
  /** The project's file and whether the user accepted it. Null when there is none. */
  project: ProjectFile | null
  /**
   * Content of the project's baton.yaml, parsed from the bytes whose hash is `project.sha256`.
   * Undefined when it cannot be parsed.
   */
  projectValue: unknown
}

/** A source of settings, parsed but not checked yet. */
interface Source {
  source: LayerSource
  from: string
  place: SourcePlace
  raw: unknown
  /**
   * The whole file is checked in any case. Without trust only its levels and status line are used.
   */
  trusted: boolean
}

/**
 * Reads, checks and compiles all configuration.
 * Never throws: problems are listed in `problems`.
 */
export function loadConfig({ home, project, cwd, env, flags, lastGoodUser = null }: LoadOptions): LoadedConfig {
  const userHome = env.HOME || homedir()
  const start = project ?? cwd ?? null
  const paths: [LayerSource, string][] = [['user', home.config]]
  if (start !== null && isAbsolute(start))
    paths.push(['project', findProjectFile(start, userHome) ?? join(start, PROJECT_FILE)])

  const loaded: LoadedConfig = {
    ok: true,
    problems: [],
    notes: [],
    files: [],
    config: emptyConfig(),
    userConfig: null,
    project: null,
    projectValue: undefined,
  }
  const sources: Source[] = []
  for (const [source, path] of paths) {
    const { exists, mtimeMs, size } = fileStampOf(path)
    loaded.files.push({ path, exists, mtimeMs, size })
    if (!exists) loaded.notes.push(...notesOnOtherName(path))
    else sources.push(...readSource(source, path, userHome, home.trust, loaded))
  }
  let reach = BUILT_IN_NAMES
  for (const source of sources.filter((one) => one.source === 'user'))
    reach = addSource(loaded, source, reach, userHome)
  if (!loaded.problems.some(({ file }) => file === home.config)) loaded.userConfig = loaded.config
  else if (lastGoodUser !== null) {
    loaded.config = lastGoodUser
    reach = knownNamesOf(lastGoodUser)
  }
  for (const source of sources.filter((one) => one.source === 'project'))
    reach = addSource(loaded, source, reach, userHome)

  const withEnv = withEnvironment(loaded.config, env)
  loaded.config = withEnv.config
  loaded.problems.push(...withEnv.problems)
  const line: SourcePlace = { file: 'command line', lineOf: () => null }
  if (flags) {
    const source: Source = { source: 'flags', from: 'command line', place: line, raw: flags, trusted: true }
    addSource(loaded, source, reach, userHome)
  }
  return { ...loaded, ok: loaded.problems.length === 0 }
}

function readSource(
  source: LayerSource,
  path: string,
  userHome: string,
  trustFolder: string,
  loaded: Pick<LoadedConfig, 'problems' | 'project' | 'projectValue'>,
): Source[] {
  const { value, faults, lineOf, bytes, owner } = readYaml(path)
  if (source === 'project') {
    loaded.project = judgeTrust(path, bytes, owner, trustFolder)
    loaded.projectValue = value
  }
  for (const { line, reason, hint } of faults) {
    loaded.problems.push({
      key: '',
      file: path,
      reason: line === null ? reason : `line ${line}: ${reason}`,
      hint,
      ...(line === null ? {} : { line }),
    })
  }
  if (faults.length > 0) return []
  const short = path.startsWith(`${userHome}/`) ? `~${path.slice(userHome.length)}` : path
  const trusted = source !== 'project' || loaded.project?.trusted === true
  return [{ source, from: `${source} file ${short}`, place: { file: path, lineOf }, raw: value, trusted }]
}

/**
 * Checks trust for the parsed bytes. The file is not read again, because it may have been replaced.
 */
function judgeTrust(path: string, bytes: Buffer | null, owner: number | null, trustFolder: string): ProjectFile {
  const folder = realFolderOf(path)
  const sha256 = bytes === null ? null : createHash('sha256').update(bytes).digest('hex')
  const accepted = folder === null ? null : acceptedHash(trustFolder, folder)
  const reason =
    owner !== null && !isOwnedBy({ uid: owner }, 'this-user-or-root')
      ? 'belongs to another user'
      : accepted === null
        ? 'not accepted yet'
        : accepted === sha256
          ? null
          : 'changed since it was accepted'
  return { path, folder, sha256, trusted: reason === null, reason, ignored: [] }
}

/**
 * Adds one source to the loaded configuration, or its problems.
 * Returns the names that the next source may refer to.
 */
function addSource(
  loaded: LoadedConfig,
  { source, from, place, raw, trusted }: Source,
  below: typeof BUILT_IN_NAMES,
  userHome: string,
): typeof BUILT_IN_NAMES {
  const { findings, written, reach } = checkSettings(raw, source, below, !trusted)
  loaded.problems.push(...findings.map((finding) => problemAt(place, finding)))
  if (!written) return trusted ? reach : below
  if (!trusted) {
    const { config, ignored } = addAllowedUntrustedKeys(loaded.config, written, from, userHome)
    loaded.config = config
    if (loaded.project) loaded.project.ignored = ignored
    loaded.notes.push(...ignored.map(({ key, reason }) => ({ key, file: place.file, text: ignoredText(reason) })))
    return below
  }
  loaded.config = addLayer(loaded.config, written, { source, from }, userHome)
  loaded.notes.push(...notesOn(written, place.file))
  loaded.notes.push(...notesOnOrder(loaded.config, loaded.config.layers.at(-1)?.set.levels ?? [], place.file))
  return reach
}

const ignoredText = (reason: string): string =>
  `ignored (${reason}): the file is not trusted; run \`baton trust\` to accept it`

/** Notes a file that users may take for the configuration, but that is never read. */
function notesOnOtherName(path: string): KeyNote[] {
  const other = path.replace(/\.yaml$/, '.yml')
  return other !== path && existsSync(other)
    ? [{ key: '', file: other, text: `not read: rename it to ${basename(path)}` }]
    : []
}

/** Actions that do not have their full effect yet. Remove an entry once its capability is built. */
const LATER_ACTIONS: [pattern: RegExp, text: string][] = [
  [/^pause$/, 'acts as a warning here: only a level of an agent (`agents.<name>.levels`) pauses a job'],
]

const SECRET = /TOKEN|SECRET|PASSWORD|API_?KEY|CREDENTIAL/i

/** Notes about written keys that do not have their full effect. Keys of presets are never noted. */
function notesOn(written: WrittenConfig, file: string): KeyNote[] {
  return [
    ...notesOnPolicy(written, ''),
    ...(written.overrides ?? []).flatMap((override, index) => notesOnPolicy(override, `overrides[${index}].`)),
    ...notesOnAgents(written.agents),
  ].map((note) => ({ ...note, file }))
}

function notesOnAgents(agents: WrittenConfig['agents']): Omit<KeyNote, 'file'>[] {
  const entries = Array.isArray(agents)
    ? agents.map((agent, index) => [`agents[${index}]`, agent] as const)
    : Object.entries(agents ?? {}).map(([name, agent]) => [keyText(['agents', name]), agent] as const)
  return entries.flatMap(([key, { session, env, max_handoffs, workspace }]) => {
    const twice = (high: unknown, low: unknown): boolean =>
      typeof high === 'number' && typeof low === 'number' && high !== low
    const notes: (false | null | undefined | [string, string])[] = [
      session?.mode === 'persistent' &&
        workspace?.strategy === 'git_worktree' && [
          'session.mode',
          'has no effect with `git_worktree`: each job gets its own worktree and starts fresh with the last brief',
        ],
      session?.timeout != null &&
        session.mode !== 'persistent' && [
          'session.timeout',
          'has no effect without `mode: persistent`; to limit one session, use `max_duration`',
        ],
      twice(session?.context_threshold, session?.context_handoff_threshold) && [
        'session.context_handoff_threshold',
        'not used: `context_threshold` sets the same and takes precedence',
      ],
      twice(max_handoffs, session?.max_handoffs_per_job) && [
        'session.max_handoffs_per_job',
        'not used: `max_handoffs` of the agent sets the same and takes precedence',
      ],
      Object.keys(env ?? {}).some((name) => SECRET.test(name)) && [
        'env',
        'stored with the job in plain text: set secrets in the environment of Baton, which the agent inherits',
      ],
    ]
    return notes.flatMap((note) => (note ? [{ key: `${key}.${note[0]}`, text: note[1] }] : []))
  })
}

function notesOnPolicy(written: WrittenPolicy, prefix: string): Omit<KeyNote, 'file'>[] {
  const notes: Omit<KeyNote, 'file'>[] = []
  if (written.compaction === 'allow' && written.must_survive && written.must_survive.length > 0)
    notes.push({
      key: `${prefix}must_survive`,
      text: 'has no effect while `compaction` is `allow`, because the summariser gets no instructions',
    })
  if (written.handoff?.review_seconds === 'approval' && written.compaction === 'block-and-hand-off')
    notes.push({
      key: `${prefix}compaction`,
      text: 'acts as `instruct`: a brief that waits for approval may be used too late to replace a compaction',
    })
  written.levels?.forEach(({ actions }, level) => {
    actions?.forEach((action, index) => {
      const later = LATER_ACTIONS.find(([pattern]) => pattern.test(action))
      if (later) notes.push({ key: `${prefix}levels[${level}].actions[${index}]`, text: later[1] })
    })
  })
  return notes
}

/** Notes levels that a file moved past each other: allowed, but seldom intended. */
function notesOnOrder(config: CompiledConfig, changes: LevelChange[], file: string): KeyNote[] {
  const presets = config.layers.findLast(({ set }) => set.presets)?.set.presets ?? ['default']
  const intended = [...presetLevels(presets).values()]
  const base = { ...config, layers: config.layers.map((layer) => ({ ...layer, overrides: [] })) }
  const levels = policyFor(base, { agent: '', project: null, model: null, seat: null }).levels
  return changes.flatMap(({ name, key, rule }) => {
    const own = intended.find((level) => level.name === name)
    const now = levels.find((level) => level.name === name)
    if (!own || !now || !rule) return []
    return intended.flatMap((other) => {
      const otherNow = levels.find((level) => level.name === other.name)
      const meant = comparePositions(uncapped(own.at), uncapped(other.at)) ?? 0
      const is = otherNow ? (comparePositions(uncapped(now.at), uncapped(otherNow.at)) ?? 0) : 0
      if (!otherNow || meant * is >= 0) return []
      return [
        {
          key,
          file,
          text:
            `\`${name}\` (${now.rule}) now comes ${is < 0 ? 'before' : 'after'} ` +
            `\`${other.name}\` (${otherNow.rule}, ${otherNow.from})`,
        },
      ]
    })
  })
}

/** Returns the position without its token limit, because only a session can compare the two. */
function uncapped(at: Position): Position {
  return at.of === 'first' ? (at.positions.find(({ of }) => of !== 'tokens') ?? at) : at
}
