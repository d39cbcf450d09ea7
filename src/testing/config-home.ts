import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { CompiledCopy } from '../config/compiled-copy.js'
import { currentConfig } from '../config/current-config.js'
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load-config.js'
import { realFolderOf, storeTrust } from '../config/trust.js'

/** Accepts a project file in its current state, as the user does with `baton trust`. */
export function trustFile(trustFolder: string, path: string): void {
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex')
  storeTrust(trustFolder, { folder: realFolderOf(path)!, sha256 }, new Date())
}

/** Creates a folder with a user's home and a project, isolated from the machine. */
export function createConfigHome() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-config-'))
  const user = join(folder, 'me')
  const project = join(user, 'shop')
  mkdirSync(join(project, '.git'), { recursive: true })
  const home = {
    config: join(user, '.config', 'baton', 'config.yaml'),
    compiled: join(user, 'run', 'config'),
    trust: join(user, 'trust'),
  }
  const put = (path: string, content: string | object) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : stringify(content))
  }
  const base = { home, project, env: { HOME: user } }
  const load = (options: Partial<LoadOptions> = {}): LoadedConfig => loadConfig({ ...base, ...options })
  let loads = 0
  const currentIn = (folder: string, env: Record<string, string> = {}, memory?: Map<string, CompiledCopy>) =>
    currentConfig({
      home,
      memory,
      project: folder,
      env: { ...base.env, ...env },
      load: (options) => {
        loads += 1
        return loadConfig(options)
      },
    })
  return {
    folder,
    user,
    project,
    home,
    projectFile: join(project, 'baton.yaml'),
    put,
    putUser: (content: string | object) => put(home.config, content),
    /** Writes the project's file and accepts it. */
    putProject: (content: string | object) => {
      put(join(project, 'baton.yaml'), content)
      trustFile(home.trust, join(project, 'baton.yaml'))
    },
    putUntrusted: (content: string | object) => put(join(project, 'baton.yaml'), content),
    load,
    /** Returns all errors of such a user file, as `key: reason | hint`. */
    refused: (content: string | object): string[] => {
      put(home.config, content)
      return load().problems.map(({ key, reason, hint }) => `${key}: ${reason} | ${hint}`)
    },
    current: (env: Record<string, string> = {}) => currentIn(project, env),
    currentIn,
    /** Returns how often `current` had to load the files. */
    loads: () => loads,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
