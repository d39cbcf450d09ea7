import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { PREFIX } from './paths.js'

/** State of the real home's files that a test could change, as path to fingerprint. */
export type Snapshot = Map<string, string>

/**
 * Client files that only the user or Baton changes. Files that the client writes itself are
 * excluded.
 */
const CLIENT = ['skills', 'plugins', 'commands', 'agents', 'hooks', 'CLAUDE.md']
const MOST_ENTRIES = 50_000

/**
 * Records the state of the real home, where a client of the developer may be running. Settings are
 * compared as a whole; of the files that the client writes, only those that name a test's folder.
 */
export function takeSnapshot(home = os.homedir(), env: NodeJS.ProcessEnv = process.env): Snapshot {
  const snapshot: Snapshot = new Map()
  const client = env.CLAUDE_CONFIG_DIR ?? path.join(home, '.claude')
  for (const name of names(client)) if (/^settings.*\.json$/.test(name)) walk(path.join(client, name), snapshot)
  for (const name of CLIENT) walk(path.join(client, name), snapshot)
  for (const folder of batonPlaces(home, env)) walk(folder, snapshot)
  for (const trace of traces(home, client)) snapshot.set(trace, 'of a test')
  return snapshot
}

/** Returns one line for each difference between two snapshots. */
export function differences(before: Snapshot, after: Snapshot): string[] {
  const lines: string[] = []
  for (const [file, word] of after) {
    if (!before.has(file)) lines.push(`new: ${file}`)
    else if (before.get(file) !== word) lines.push(`changed: ${file}`)
  }
  for (const file of before.keys()) if (!after.has(file)) lines.push(`gone: ${file}`)
  return lines
}

/** Takes a snapshot of the real home and returns a function that throws if it has changed. */
export function realHomeGuard(home = os.homedir(), env: NodeJS.ProcessEnv = process.env): () => void {
  const before = takeSnapshot(home, env)
  return () => {
    const lines = differences(before, takeSnapshot(home, env))
    if (lines.length > 0) throw new Error(`a test touched the real home:\n  ${lines.join('\n  ')}`)
  }
}

function batonPlaces(home: string, env: NodeJS.ProcessEnv): string[] {
  const xdg = (name: string, otherwise: string): string => path.join(env[name] || path.join(home, otherwise), 'baton')
  return [
    xdg('XDG_CONFIG_HOME', '.config'),
    xdg('XDG_DATA_HOME', '.local/share'),
    xdg('XDG_STATE_HOME', '.local/state'),
    xdg('XDG_CACHE_HOME', '.cache'),
    path.join(home, 'Library', 'Application Support', 'baton'),
    path.join(home, '.config', 'systemd', 'user', 'baton.service'),
    ...(env.BATON_HOME ? [env.BATON_HOME] : []),
  ]
}

/** Lists registry files, transcripts and project entries that name a test's folder. */
function traces(home: string, client: string): string[] {
  const sessions = path.join(client, 'sessions')
  const projects = path.join(client, 'projects')
  return [
    ...names(sessions)
      .map((name) => path.join(sessions, name))
      .filter(speaksOfTest),
    ...names(projects)
      .filter((name) => name.includes(PREFIX))
      .map((name) => path.join(projects, name)),
    ...[path.join(home, '.claude.json'), path.join(client, '.claude.json')].filter(speaksOfTest),
  ]
}

function speaksOfTest(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').includes(PREFIX)
  } catch {
    return false
  }
}

function walk(file: string, into: Snapshot): void {
  if (into.size > MOST_ENTRIES) return
  let stat: ReturnType<typeof lstatSync>
  try {
    stat = lstatSync(file)
  } catch {
    return
  }
  if (!stat.isDirectory()) {
    into.set(file, `${stat.size} bytes, ${stat.mtimeMs}`)
    return
  }
  into.set(file, 'folder')
  for (const name of names(file)) walk(path.join(file, name), into)
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
