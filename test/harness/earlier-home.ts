import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathKey } from '../../src/install/look.js'
import { openDatabase } from '../../src/store/sqlite/driver.js'
import { type Home, type HomeOptions, makeHome } from './home.js'
import { REPOSITORY } from './paths.js'

/** A home written by version 0.1 (commit 3fc0d27) and recorded by `test/record/home.record.ts`. */
export const EARLIER_HOME = path.join(REPOSITORY, 'test', 'fixtures', 'home-0.1')

/** The answers of one version's commands, as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of the JSON
type Said = any

export interface Recorded {
  /** Folders and Node program of the machine on which the home was recorded. */
  places: { root: string; package: string; node: string }
  /** Recorded names that are hashes over text that contains a path. */
  names: { key: string; settings: string }
  /** The client's settings before Baton was installed. */
  original: string
  sessions: { herons: string; stork: string; cranes: string }
  /** Output of the recording version's commands, before the signals in the spool were written. */
  said: Record<'status' | 'show' | 'archives' | 'recall' | 'briefs' | 'brief' | 'messages' | 'jobs' | 'events', Said>
}

export interface EarlierHome {
  home: Home
  recorded: Recorded
}

/**
 * Files whose bytes are hashed or signed: they keep the paths of the machine they were recorded on.
 */
const AS_RECORDED = /^(baton\/(archive|briefs)\/|home\/\.claude\/projects\/)/

/**
 * Tables whose times decide what Baton does: it offers a brief for 12 hours and thins readings
 * after a week. Their times move to just before now. Others keep the times that the signed briefs
 * have.
 */
const AGEING = new Set(['handoffs', 'events', 'kept_events'])
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
const MINUTE_MS = 60_000

/** Returns a function that moves the times in a text, `newest` to a minute ago. */
function makeRecent(newest: string): (text: string) => string {
  const ahead = Date.now() - MINUTE_MS - Date.parse(newest)
  return (text) => text.replace(TIME, (time) => new Date(Date.parse(time) + ahead).toISOString())
}

/**
 * Unpacks the recorded home into a folder of the test, as if it had been recorded there, with the
 * current package in place of the earlier one, as after `npm install -g`.
 */
export function openEarlierHome(options: HomeOptions = {}): EarlierHome {
  const home = makeHome(options)
  const text = readFileSync(path.join(EARLIER_HOME, 'recorded.json'), 'utf8')
  const { places, names, said } = JSON.parse(text) as Recorded
  const toRecent = makeRecent(said.events.at(-1).at)
  // -m sets the files' times to now, because Baton's cleanup deletes old files.
  execFileSync('tar', ['-xmzf', path.join(EARLIER_HOME, 'home.tar.gz'), '-C', home.dir])
  const settings = path.join(home.configDir, 'settings.json')
  const coded = (folder: string): string => folder.replace(/[^a-zA-Z0-9]/g, '-')
  const moved: [string, string][] = [
    [places.root, home.dir],
    [coded(places.root), coded(home.dir)],
    [places.package, REPOSITORY],
    [places.node, process.execPath],
    [names.key, pathKey(settings)],
  ]
  const move = (from: string): string => moved.reduce((to, [old, fresh]) => to.replaceAll(old, fresh), from)
  writeFileSync(settings, move(readFileSync(settings, 'utf8')))
  moved.push([names.settings, createHash('sha256').update(readFileSync(settings)).digest('hex')])
  for (const name of readdirSync(home.dir, { recursive: true }) as string[]) moveFile(home.dir, name, move, toRecent)
  for (const name of (readdirSync(home.dir, { recursive: true }) as string[]).reverse()) {
    const to = path.join(path.dirname(name), move(path.basename(name)))
    if (to !== name) renameSync(path.join(home.dir, name), path.join(home.dir, to))
  }
  const recorded = JSON.parse(move(text)) as Recorded
  const withRecentTimes = <Value>(value: Value): Value => JSON.parse(toRecent(JSON.stringify(value)))
  const { said: shown } = recorded
  shown.events = withRecentTimes(shown.events)
  shown.briefs.handoffs = withRecentTimes(shown.briefs.handoffs)
  for (const one of [...shown.status.sessions, ...shown.show, shown.brief])
    if (one.handoff) one.handoff = withRecentTimes(one.handoff)
  return { home, recorded }
}

type Rewrite = (text: string) => string

function moveFile(root: string, name: string, move: Rewrite, toRecent: Rewrite): void {
  const file = path.join(root, name)
  if (!statSync(file).isFile() || AS_RECORDED.test(name) || name.startsWith('project/.git/')) return
  if (name.endsWith('.db')) {
    moveStore(file, move, toRecent)
    return
  }
  const bytes = readFileSync(file, 'latin1')
  const moved = move(bytes)
  if (moved !== bytes) writeFileSync(file, moved, 'latin1')
}

/** Replaces the recorded paths in every text of a store, and the times of tables that age. */
function moveStore(file: string, move: Rewrite, toRecent: Rewrite): void {
  const db = openDatabase(file)
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[]
  for (const { name } of tables) {
    const columns = db.prepare(`SELECT name FROM pragma_table_info('${name}') WHERE type = 'TEXT'`).all()
    for (const { name: column } of columns as { name: string }[])
      for (const row of db.prepare(`SELECT DISTINCT ${column} AS text FROM ${name}`).all() as {
        text: string | null
      }[]) {
        const moved = row.text === null ? null : AGEING.has(name) ? toRecent(move(row.text)) : move(row.text)
        if (moved !== row.text) db.prepare(`UPDATE ${name} SET ${column} = ? WHERE ${column} = ?`).run(moved, row.text)
      }
  }
  db.close()
}
