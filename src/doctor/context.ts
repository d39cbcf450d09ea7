import { existsSync } from 'node:fs'
import type { ModFile } from '../agents/installer.js'
import type { Session } from '../contract/api/session.js'
import type { ConfigProblem, Policy, ProjectFile } from '../contract/policy.js'
import type { PolicySubject } from '../contract/policy-subject.js'
import type { ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'
import type { BriefRecord } from '../contract/records/brief.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import type { NoticeRecord } from '../contract/records/notice.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { Finding } from '../lib/finding.js'
import type { Home } from '../lib/home.js'

export type Env = Record<string, string | undefined>

/** What doctor asks of an open store; the house offers it. */
export interface OpenApp {
  store: {
    session(sessionId: string): SessionRecord | null
    sessions(): SessionRecord[]
    openHandoffs(): HandoffRecord[]
    briefs(query: { limit: number }): BriefRecord[]
    archives(): ArchiveRecord[]
    segments(): SegmentRecord[]
    leftovers(): string[]
    lastDeliveries(): NoticeRecord[]
    switchState(scope: 'session' | 'project' | 'all', key: string): boolean | null
    sizes(): { sessions: number; readings: number; events: number; messages: number; bytes: number }
  }
  policyOf(subject: PolicySubject): { policy: Policy }
  recent(options: { all?: boolean; live?: boolean }): Session[]
  drain(): number
  /**
   * How the transcripts on the disk stand to their archives. `deletedAtMs`: when the client deletes the
   * first one that is not archived; null: all are. `limits`: periods set by somebody that limit archives.
   */
  transcripts(): {
    archived: number
    unarchived: { count: number; bytes: number }
    deletedAtMs: number | null
    limits: { days: number; setBy: string }[]
  }
  close(): void
}

/** A database opened without any judgement of what is in it. */
export interface RawDatabase {
  exec(sql: string): void
  prepare(sql: string): { all(): unknown[] }
  close(): void
}

/** Functions of modules that doctor may not import. */
export interface DoctorDependencies {
  loadConfig(options: { home: Home; project: string; env: Env }): {
    ok: boolean
    problems: ConfigProblem[]
    notes: { key: string; file: string; text: string }[]
    files: { path: string; exists: boolean }[]
    project: ProjectFile | null
  }
  /** Entries of `notify` that apply in a folder, with their path in the file: `notify[0]`. */
  notifyEntries(options: { home: Home; project: string; env: Env }): { key: string; target: NoticeRecord['target'] }[]
  /** Throws a BatonError with a sentence and a hint. */
  openApp(env: Env): OpenApp
  /** What goes wrong while it is used is thrown as a BatonError. */
  openDatabase(path: string, options: { readOnly?: boolean; timeout?: number }): RawDatabase
  /** The files that archives need, and those that are not there at their full length. */
  archiveFiles(app: OpenApp): { all: number; gone: string[] }
  /** Number of archives on the disk that are not in the store. `null`: there is no store. */
  unknownArchives(app: OpenApp | null): number
  /** Returns the steps to recover from a damaged store. */
  recoverySteps(path: string): string
  /** Whether the file of a brief is what was kept. */
  isGenuine(brief: BriefRecord): boolean
  /** Whether something has to be typed for a handoff and nobody does. */
  isUndriven(handoff: HandoffRecord): boolean
  /** Whether the terminal of a client could be typed into, be it later. Types nothing. */
  typable(pid: number, sessionId: string): Promise<boolean>
  isSilent(silence: SessionRecord['silence'], now: Date): boolean
  /** Whether a process holds the lock of this home's server. */
  isServed(): boolean
  /** Runs `work` while holding the lock of this home's server. Throws when a server runs. */
  whileNotServed(work: () => void): void
  /** Makes the folders that hooks write to, as install does. */
  prepareHome(): void
  findProgram(name: string): string | null
  /** null: the client is not there, or did not say. */
  clientVersion(): Promise<string | null>
  /** What jobs could be run with here; `missing`: a sentence, null where nothing is. */
  runtimes(folder: string): Promise<{ name: string; missing: string | null }[]>
}

/** What is examined: one home, as this environment and folder see it. */
export interface DoctorContext {
  /** The agent whose settings are examined. */
  agent: string
  home: Home
  env: Env
  cwd: string
  /** Of the Baton that runs doctor. */
  version: string
  /** The launcher's text as this Baton would write it. */
  launcher: string
  mod: ModFile[]
  /** The client as it was found on the PATH. */
  client: { path: string | null; version: string | null }
  dependencies: DoctorDependencies
  /** Settings of the organisation, which rank above all others. Left out: where the client has them. */
  managed?: string[]
  platform?: string
  now: () => Date
}

export interface Check {
  name: string
  look(context: DoctorContext): Finding | Promise<Finding>
}

/** Asks the store something; null: there is none, or it cannot be opened, which another check tells. */
export function withApp<T>(context: DoctorContext, ask: (app: OpenApp) => T): T | null {
  if (!existsSync(context.home.store)) return null
  try {
    const app = context.dependencies.openApp(context.env)
    try {
      return ask(app)
    } finally {
      app.close()
    }
  } catch {
    return null
  }
}
