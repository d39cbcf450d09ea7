import { existsSync } from 'node:fs'
import type { ModFile } from '../agents/installer.js'
import { shownBy } from '../app/sessions.js'
import { loadConfig } from '../config/load-config.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import type { Finding } from '../lib/finding.js'
import type { Home } from '../lib/home.js'

export type Env = Record<string, string | undefined>

export type CheckedApp = App & ReturnType<typeof shownBy>

/** Opens the store of a home for one check. Throws a BatonError with a sentence and a hint. */
export function openForCheck(env: Env): CheckedApp {
  const app = openApp({ env, loadConfig, rareWork: () => rareWork, busyMs: 2_000 })
  return { ...app, ...shownBy(app) }
}

/** A database opened without any judgement of what is in it. */
export interface RawDatabase {
  exec(sql: string): void
  prepare(sql: string): { all(): unknown[] }
  close(): void
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
