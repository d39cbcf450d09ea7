import type { SessionRecord } from '../contract/records/session.js'
import type { Fault, Finding } from '../lib/finding.js'
import type { Home } from '../lib/home.js'
import type { Recognise } from './shared/launcher-call.js'

type Env = Record<string, string | undefined>

export type Scope = 'user' | 'project'

/** A file of the part of Baton that runs inside the client, its path relative to that part's folder. */
export interface ModFile {
  path: string
  text: string
}

/** Which containers were not there before Baton: only those are removed when they become empty. */
export interface Created {
  hooks: boolean
  events: string[]
  statusLine: boolean
  /** For the rule that allows `baton handoff`; left out: it was not wanted, or stood there before. */
  rule?: 'rule' | 'allow' | 'permissions' | undefined
}

export interface WantedEntries {
  launcher: string
  key: string
  by: Recognise
  /** A status line the client would take from a file of lower rank; null: none, or this file has its own. */
  inherited: string | null
  /** True: a waiter sleeps beside idle sessions. */
  waiter: boolean
  /** True: `baton handoff` is allowed without a question. */
  rule: boolean
}

/** Settings with Baton in them. `former`: the status line that now runs behind Baton's. */
export interface InsertedEntries {
  text: string
  created: Created
  former: string | null
  /** The former command as it was spelled in the file. */
  formerLiteral: string | null
  notes: string[]
}

/** The additions that an earlier install recorded. */
export interface RememberedEntries {
  created: Created
  former: string | null
  formerLiteral: string | null
}

/** Signals as the client sends them, of a session that does not exist. */
export interface Sample {
  sessionId: string
  /** Tokens the status line reports. */
  used: number
  sessionStart: string
  statusLine: string
}

/** Puts Baton into an agent's settings, takes it out and checks it there. Loaded by commands only. */
export interface AgentInstaller {
  /** The settings file of a scope. */
  settingsPath(scope: Scope, place: { env: Env; project: string }): string
  /** The environment in which this file is the user's settings file. */
  environmentFor(userSettings: string, env: Env): Env
  /** Files of lower rank than the project's settings that may hold a status line, the highest first. */
  inheritedFrom(place: { env: Env; project: string }): string[]
  /** Where the client looks for the mod that belongs to this settings file. */
  modFolder(settingsPath: string): string
  modFiles(options: { liveDir: string; version?: string; requestPrompt?: string; briefSkill?: string }): ModFile[]
  /** Why this version of the client does not load the mod; null: it does. */
  whyNoMod(version: string | null): string | null
  /** Whether this version of the client can be woken by a waiter. */
  supportsWaiters(version: string | null): boolean
  launcher(input: { bash: string; home: Home; node: string; engine: string }): string
  /** Throws SettingsFault, as the next two do, where the file must not be touched. */
  insert(blank: string, wanted: WantedEntries): InsertedEntries
  /**
   * The text without any entry of Baton's; everything else byte for byte. `formerOf`: the former status
   * line by key, for forms that do not carry it themselves.
   */
  strip(text: string, by: Recognise, known: RememberedEntries | null, formerOf: (key: string) => string | null): string
  /** True: both hold the same entries of Baton's. */
  sameEntries(one: string, other: string, by: Recognise): boolean
  /** Launchers of other homes that this file calls. */
  otherHomes(text: string, by: Recognise): string[]
  /** Whether the file calls this home's launcher. Never throws. */
  callsBaton(text: string, by: Recognise): boolean
  /** The command of the status line; null: none. Never throws. */
  statusLineIn(text: string): string | null
  /** The rule that lets the agent run `baton handoff` without a question. */
  readonly handoffRule: string
  hasHandoffRule(text: string): boolean
  /** The commands that settings hold for the start of a session and the status line. Throws SettingsFault. */
  commandsIn(text: string, by: Recognise): { hook: string | null; line: string | null }
  /** The event of a sample's start. */
  readonly startEvent: string
  sample(folder: string, id: string): Sample
  /** In the order in which one thing needs the other. */
  readonly checks: readonly AgentCheck[]
  /** How `baton demo` starts the client; left out: it cannot. */
  readonly demo?: DemoClient
}

/** A client that talks to the scripted model in a home of its own. */
export interface DemoClient {
  readonly title: string
  /** How a user gets the client, as the first half of a sentence. */
  readonly howToGet: string
  /** The client that lies beside Baton's own program; null: none. */
  packaged(program: string): string | null
  prepareUser(user: string, project: string): void
  environment(url: string): Record<string, string>
  headless(prompt: string, model: string): string[]
  interactive(prompt: string, model: string): string[]
}

export interface AgentCheck {
  name: string
  look(context: CheckContext): Finding | Promise<Finding>
}

/** A settings file that Baton is, or should be, installed in, and how install would be told to mean it. */
export interface SettingsTarget {
  scope: Scope
  path: string
  env: Env
  project: string
}

/** Everything doctor passes to the checks of an agent. */
export interface CheckContext {
  home: Home
  env: Env
  cwd: string
  /** The client as it was found on the PATH. */
  client: { path: string | null; version: string | null }
  /** Settings of the organisation, which rank above all others. Left out: where the client has them. */
  managed?: string[]
  recognise: Recognise
  now(): Date
  /** Settings files that this home is installed in, or that call it. */
  targets(): SettingsTarget[]
  /** Returns what install would change in a target now. Throws InstallProblem where it would refuse. */
  rehearse(target: SettingsTarget): { files: { path: string; action: string }[]; notes: string[] }
  /** A fault that running install again fixes. `what`: what it then does, as the end of a sentence. */
  byInstall(detail: string, what: string, target?: SettingsTarget): Fault
  /** The bytes of a settings file; null: there is none. Throws InstallProblem where it cannot be read. */
  readSettings(path: string): Buffer | null
  /** Names a settings file, the same for every spelling of its path. */
  keyOf(path: string): string
  /** The status line that install has kept for a key; '': none. */
  formerLine(key: string): string
  sessions(): SessionRecord[]
  findProgram(name: string): string | null
  /** Whether the terminal of a client could be typed into, now or later. */
  typable(pid: number, sessionId: string): Promise<boolean>
}
