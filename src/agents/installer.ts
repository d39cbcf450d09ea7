import type { SessionRecord } from '../contract/records/session.js'
import type { Fault, Finding } from '../lib/finding.js'
import type { Home } from '../lib/home.js'
import type { ProgramRecognition } from './shared/launcher-call.js'

type Env = Record<string, string | undefined>

export type SettingsScope = 'user' | 'project'

/**
 * A file of the plugin module that runs inside the client.
 * `path` is relative to the module's folder.
 */
export interface PluginModuleFile {
  path: string
  text: string
}

/**
 * The JSON objects and lists that Baton added to a settings file.
 * Only these are removed again when they become empty.
 */
export interface CreatedContainers {
  hooks: boolean
  events: string[]
  statusLine: boolean
  /**
   * The part of the rule for `baton handoff` that Baton added.
   * Absent when the rule was not wanted or existed before.
   */
  rule?: 'rule' | 'allow' | 'permissions' | undefined
}

export interface WantedEntries {
  launcher: string
  key: string
  by: ProgramRecognition
  /**
   * The status line that the client would read from a file of lower rank.
   * Null when there is no such status line, or this file has its own.
   */
  inherited: string | null
  /** True when a waiting hook should run beside idle sessions. */
  waiter: boolean
  /** True when `baton handoff` should be allowed without a question. */
  rule: boolean
}

/** Settings with Baton's entries. `former` is the status line that now runs after Baton's. */
export interface SettingsWithEntries {
  text: string
  created: CreatedContainers
  former: string | null
  /** The former status line's command as the file spelled it. */
  formerLiteral: string | null
  notes: string[]
}

/** The entries that an earlier install recorded as added. */
export interface RememberedEntries {
  created: CreatedContainers
  former: string | null
  formerLiteral: string | null
}

/** Sample signals in the client's format, of a session that does not exist. */
export interface SampleSignals {
  sessionId: string
  /** Tokens the status line reports. */
  used: number
  sessionStart: string
  statusLine: string
}

/** Adds Baton to an agent's settings, removes it and checks it. Loaded by commands only. */
export interface AgentInstaller {
  /** Returns the settings file of a scope. */
  settingsPath(scope: SettingsScope, place: { env: Env; project: string }): string
  /** Returns the environment in which this file is the user's settings file. */
  environmentFor(userSettings: string, env: Env): Env
  /** Lists files below the project's settings that may hold a status line, the highest first. */
  inheritedFrom(place: { env: Env; project: string }): string[]
  /** Returns the folder from which the client loads the plugin module of this settings file. */
  modFolder(settingsPath: string): string
  modFiles(options: {
    liveDir: string
    version?: string
    requestPrompt?: string
    briefSkill?: string
  }): PluginModuleFile[]
  /** Returns why this version of the client does not load the plugin module. Null when it does. */
  whyNoMod(version: string | null): string | null
  /** Returns whether a waiting hook can wake this version of the client. */
  supportsWaiters(version: string | null): boolean
  launcher(input: { bash: string; home: Home; node: string; engine: string }): string
  /**
   * Adds Baton's entries.
   * Like `strip` and `sameEntries`, throws SettingsFault when the file must not be changed.
   */
  insert(blank: string, wanted: WantedEntries): SettingsWithEntries
  /**
   * Returns the text without any entry of Baton's, and everything else byte for byte.
   * `formerOf` returns the former status line by key, for forms that do not contain it.
   */
  strip(
    text: string,
    by: ProgramRecognition,
    known: RememberedEntries | null,
    formerOf: (key: string) => string | null,
  ): string
  /** Returns whether both texts hold the same entries of Baton's. */
  sameEntries(one: string, other: string, by: ProgramRecognition): boolean
  /** Lists the launchers of other homes that this file calls. */
  otherHomes(text: string, by: ProgramRecognition): string[]
  /** Returns whether the file calls this home's launcher. Never throws. */
  callsBaton(text: string, by: ProgramRecognition): boolean
  /** Returns the command of the status line. Null when there is none. Never throws. */
  statusLineIn(text: string): string | null
  /** The rule that lets the agent run `baton handoff` without a question. */
  readonly handoffRule: string
  hasHandoffRule(text: string): boolean
  /**
   * Returns the commands in the settings for the session's start and the status line.
   * Throws SettingsFault.
   */
  commandsIn(text: string, by: ProgramRecognition): { hook: string | null; line: string | null }
  /** The event that starts a sample session. */
  readonly startEvent: string
  sample(folder: string, id: string): SampleSignals
  /** Checks in the order of their dependencies. */
  readonly checks: readonly AgentCheck[]
  /** Describes how `baton demo` starts the client. Absent when it cannot. */
  readonly demo?: DemoClient
}

/** A client that uses the scripted model in a home of its own. */
export interface DemoClient {
  readonly title: string
  /** Text that says how a user gets the client, as the first half of a sentence. */
  readonly howToGet: string
  /** Returns the client installed beside Baton's own program. Null when there is none. */
  packaged(program: string): string | null
  prepareUser(user: string, project: string): void
  environment(url: string): Record<string, string>
  headless(prompt: string, model: string): string[]
  interactive(prompt: string, model: string): string[]
}

interface AgentCheck {
  name: string
  look(context: CheckContext): Finding | Promise<Finding>
}

/** A settings file in which Baton is or should be installed, with install's arguments for it. */
export interface SettingsTarget {
  scope: SettingsScope
  path: string
  env: Env
  project: string
}

/** Everything doctor passes to the checks of an agent. */
export interface CheckContext {
  home: Home
  env: Env
  cwd: string
  /** The client found on the PATH. */
  client: { path: string | null; version: string | null }
  /**
   * The organisation's settings files, which rank above all others.
   * Absent for the client's own paths.
   */
  managed?: string[]
  recognise: ProgramRecognition
  now(): Date
  /** Settings files that this home is installed in, or that call it. */
  targets(): SettingsTarget[]
  /**
   * Returns what install would change in a target now. Throws InstallProblem when it would refuse.
   */
  rehearse(target: SettingsTarget): { files: { path: string; action: string }[]; notes: string[] }
  /**
   * Returns a fault that running install again fixes.
   * `purpose` says what install then does, as the end of a sentence.
   */
  byInstall(detail: string, purpose: string, target?: SettingsTarget): Fault
  /**
   * Returns the bytes of a settings file.
   * Null when the file does not exist.
   * Throws InstallProblem when the settings file exists but cannot be read.
   */
  readSettings(path: string): Buffer | null
  /** Returns the name of a settings file, the same for every spelling of its path. */
  keyOf(path: string): string
  /** Returns the status line that install stored under a key, '' when there is none. */
  formerLine(key: string): string
  sessions(): SessionRecord[]
  findProgram(name: string): string | null
  /** Returns whether Baton can type into the terminal of a client, now or later. */
  typable(pid: number, sessionId: string): Promise<boolean>
}
