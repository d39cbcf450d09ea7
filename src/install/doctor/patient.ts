import type { BriefRecord } from '../../contract/brief.js'
import type { HandoffRecord } from '../../contract/handoff.js'
import type { ConfigProblem } from '../../contract/policy.js'
import type { SessionRecord } from '../../contract/record.js'
import type { Session } from '../../contract/session.js'
import type { Home } from '../../lib/home.js'
import type { ModFile } from '../mod-folder.js'

export type Env = Record<string, string | undefined>

/** What doctor asks of an open store; the house offers it. */
export interface OpenHouse {
  store: {
    session(sessionId: string): SessionRecord | null
    sessions(): SessionRecord[]
    openHandoffs(): HandoffRecord[]
    briefs(query: { limit: number }): BriefRecord[]
    segments(): { file: string; storedBytes: number }[]
    switched(scope: 'session' | 'project' | 'all', key: string): boolean | null
    sizes(): { sessions: number; readings: number; events: number; messages: number; bytes: number }
  }
  recent(options: { all?: boolean; live?: boolean }): Session[]
  drain(): number
  close(): void
}

/** A database opened without any judgement of what is in it. */
export interface RawDatabase {
  exec(sql: string): void
  prepare(sql: string): { all(): unknown[] }
  close(): void
}

/** Functions of rooms that this one may not import. */
export interface Instruments {
  loadConfig(options: { home: Home; project: string; env: Env }): {
    ok: boolean
    problems: ConfigProblem[]
    notes: { key: string; file: string; text: string }[]
    files: { path: string; exists: boolean }[]
  }
  /** Throws a BatonError with a sentence and a hint. */
  openHouse(env: Env): OpenHouse
  /** What goes wrong while it is used is thrown as a BatonError. */
  openDatabase(path: string, options: { readOnly?: boolean; timeout?: number }): RawDatabase
  /** The files that archives need, and those that are not there at their full length. */
  archiveFiles(house: OpenHouse): { all: number; gone: string[] }
  /** Whether the file of a brief is what was kept. */
  isGenuine(brief: BriefRecord): boolean
  /** Whether a fork of a session in this folder may write its brief. */
  forks(folder: string): boolean
  /** Whether something has to be typed for a handoff and nobody does. */
  isUndriven(handoff: HandoffRecord): boolean
  /** Whether the terminal of a client could be typed into, be it later. Types nothing. */
  typable(pid: number, sessionId: string): Promise<boolean>
  isSilent(silence: SessionRecord['silence'], now: Date): boolean
  /** Makes the folders that hooks write to, as install does. */
  prepareHome(): void
  findProgram(name: string): string | null
  /** null: the client is not there, or did not say. */
  clientVersion(): Promise<string | null>
  /** What jobs could be run with here; `missing`: a sentence, null where nothing is. */
  runtimes(folder: string): Promise<{ name: string; missing: string | null }[]>
}

/** What is examined: one home, as this environment and folder see it. */
export interface Patient {
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
  instruments: Instruments
  /** Settings of the organisation, which rank above all others. Left out: where the client has them. */
  managed?: string[]
  platform?: string
  now: () => Date
}
