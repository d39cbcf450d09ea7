import { existsSync } from 'node:fs'
import type { PluginModuleFile } from '../agents/installer.js'
import { sessionReaderOf } from '../app/sessions.js'
import { loadConfig } from '../config/load-config.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import type { Finding } from '../lib/finding.js'
import type { Home } from '../lib/home.js'

export type Env = Record<string, string | undefined>

export type CheckedApp = App & ReturnType<typeof sessionReaderOf>

/** Opens the store of a home for one check. Throws a BatonError with a sentence and a hint. */
export function openForCheck(env: Env): CheckedApp {
  const app = openApp({ env, loadConfig, rareWork: () => rareWork, busyMs: 2_000 })
  return { ...app, ...sessionReaderOf(app) }
}

/** A database opened without checking its content. */
export interface RawDatabase {
  exec(sql: string): void
  prepare(sql: string): { all(): unknown[] }
  close(): void
}

/** The subject of an examination: one home, as seen from this environment and folder. */
export interface DoctorContext {
  /** The agent whose settings are examined. */
  agent: string
  home: Home
  env: Env
  cwd: string
  /** Version of the Baton that runs doctor. */
  version: string
  /** The launcher's text as this version would write it. */
  launcher: string
  mod: PluginModuleFile[]
  /** The client found on the PATH. */
  client: { path: string | null; version: string | null }
  /**
   * The organisation's settings files, which rank above all others.
   * Absent for the client's own paths.
   */
  managed?: string[]
  platform?: string
  now: () => Date
}

export interface Check {
  name: string
  look(context: DoctorContext): Finding | Promise<Finding>
}

/**
 * Runs a query on the store.
 * Null when the store is missing or cannot be opened, which another check reports.
 */
export function withApp<T>(context: DoctorContext, ask: (app: CheckedApp) => T): T | null {
  if (!existsSync(context.home.store)) return null
  try {
    const app = openForCheck(context.env)
    try {
      return ask(app)
    } finally {
      app.close()
    }
  } catch {
    return null
  }
}
