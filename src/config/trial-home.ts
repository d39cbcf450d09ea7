import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { CompiledCopy } from './compiled-copy.js'
import { currentConfig } from './current-config.js'
import { type Loaded, type LoadOptions, loadConfig } from './load-config.js'

/** For tests: a folder with a user's home and a project of its own, and nothing of the machine's. */
export function trialHome() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-config-'))
  const user = join(folder, 'me')
  const project = join(user, 'shop')
  mkdirSync(join(project, '.git'), { recursive: true })
  const home = { config: join(user, '.config', 'baton', 'config.yaml'), compiled: join(user, 'run', 'config') }
  const put = (path: string, content: string | object) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : stringify(content))
  }
  const base = { home, project, env: { HOME: user } }
  const load = (options: Partial<LoadOptions> = {}): Loaded => loadConfig({ ...base, ...options })
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
    putProject: (content: string | object) => put(join(project, 'baton.yaml'), content),
    load,
    /** Everything refused in such a user file, as `key: reason | hint`. */
    refused: (content: string | object): string[] => {
      put(home.config, content)
      return load().problems.map(({ key, reason, hint }) => `${key}: ${reason} | ${hint}`)
    },
    current: (env: Record<string, string> = {}) => currentIn(project, env),
    currentIn,
    /** How often `current` had to load. */
    loads: () => loads,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
