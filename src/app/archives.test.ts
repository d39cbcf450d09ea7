import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startTimeLimit } from '../archive/time-limit.js'
import type { Cli } from '../cli/command.js'
import { reportUnreadTranscripts } from '../cli/commands/archive-search.js'
import { loadConfig } from '../config/load-config.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { processInfo } from '../lib/process-info.js'
import { createArchiveHome, jsonLine } from '../testing/archive-home.js'
import {
  archiveNewText,
  archivesOf,
  finishArchives,
  NO_PROGRESS,
  retainArchives,
  type WaitClock,
  waitForOtherWriter,
} from './archives.js'

const DAY = 24 * 3_600_000

/** Creates two sessions with archives, last written 5 and 50 days ago. */
function createArchivedSessions(settings: object | null, projectSettings: object | null = null) {
  const dir = mkdtempSync(join(tmpdir(), 'baton-retain-'))
  const [client, project] = [join(dir, '.claude'), join(dir, 'shop')]
  mkdirSync(join(dir, 'baton'), { mode: 0o700 })
  mkdirSync(join(client, 'projects', '-shop'), { recursive: true })
  mkdirSync(join(project, '.claude'), { recursive: true })
  if (settings !== null) writeFileSync(join(client, 'settings.json'), JSON.stringify(settings))
  if (projectSettings !== null)
    writeFileSync(join(project, '.claude', 'settings.json'), JSON.stringify(projectSettings))
  const app = openApp({ env: { HOME: dir, BATON_HOME: join(dir, 'baton') }, loadConfig, rareWork: () => rareWork })
  const archives = archivesOf(app)
  onTestFinished(() => {
    archives.close()
    app.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const path = (id: string): string => join(client, 'projects', '-shop', `${id}.jsonl`)
  for (const [sessionId, days] of [
    ['new', 5],
    ['old', 50],
  ] as const) {
    writeFileSync(path(sessionId), `${JSON.stringify({ type: 'user', message: { content: sessionId } })}\n`)
    const at = new Date(Date.now() - days * DAY)
    utimesSync(path(sessionId), at, at)
    app.store.transaction(() =>
      app.planArchive({ sessionId, agent: 'claude-code', project, trigger: 'import', transcript: path(sessionId) }),
    )
  }
  finishArchives(app, archives)
  return {
    app,
    archives,
    path,
    retain: () => retainArchives(app, archives),
    kept: () => app.store.archives().map(({ sessionId }) => sessionId),
  }
}

test('archives are kept without limit if cleanupPeriodDays is not set', () => {
  const it = createArchivedSessions({})
  it.retain()
  expect(it.kept()).toEqual(['new', 'old'])
})

test("a period that the user set removes archives by the transcript's age, and never a transcript", () => {
  const it = createArchivedSessions({ cleanupPeriodDays: 30 })
  expect(it.retain().archives).toMatchObject([{ session_id: 'old' }])
  expect(it.kept()).toEqual(['new'])
  expect(existsSync(it.path('old'))).toBe(true)
  expect(it.app.store.segments({ sessionId: 'old' })).toEqual([])
  expect(it.app.store.leftovers()).toEqual([])
})

test('a period in the settings of a repository removes nothing', () => {
  const it = createArchivedSessions(null, { cleanupPeriodDays: 1 })
  it.retain()
  expect(it.kept()).toEqual(['new', 'old'])
})

test('settings that cannot be parsed remove nothing', () => {
  const it = createArchivedSessions({ cleanupPeriodDays: 'soon' })
  it.retain()
  expect(it.kept()).toEqual(['new', 'old'])
})

/** Returns a clock whose pauses end at once. */
function quickClock(): WaitClock {
  let now = 0
  return {
    now: () => now,
    pause: async (ms) => {
      now += ms
    },
  }
}

/** Creates a pending archive, while a running process holds an older one of the session. */
function createHeldArchive() {
  const fixture = createArchiveHome()
  fixture.write('s1', jsonLine({ by: 'user', text: 'one' }))
  const older = fixture.plan('s1')!
  const { archiveId } = fixture.plan('s1')!
  // The parent of this process runs longer than the test.
  const { pid, startedAt } = processInfo(process.ppid)!
  fixture.store.transaction(() => fixture.store.putArchive({ ...older, lease: { pid, startedAt } }))
  fixture.archives.finish()
  expect(fixture.store.archive(archiveId)!.status).toBe('pending')
  return { fixture, older, archiveId, store: fixture.store, finish: () => void fixture.archives.finish() }
}

describe('waiting for another process', () => {
  test('waiting for another process ends when it releases the archive, which is then kept', async () => {
    const { older, store, archiveId, finish } = createHeldArchive()
    let told = 0
    const tell = (): void => {
      told++
      store.transaction(() => store.putArchive({ ...store.archive(older.archiveId)!, lease: null }))
    }
    expect(await waitForOtherWriter({ store, archiveId, finish, tell, clock: quickClock() })).toMatchObject({
      status: 'kept',
    })
    expect(told).toBe(1)
    expect(store.archive(older.archiveId)).toMatchObject({ status: 'kept' })
  })

  test('waiting for another process ends after a time limit, with the archive unchanged', async () => {
    const { store, archiveId, finish } = createHeldArchive()
    let told = 0
    const tell = (): void => void told++
    expect(await waitForOtherWriter({ store, archiveId, finish, tell, clock: quickClock() })).toMatchObject({
      status: 'pending',
    })
    expect(told).toBe(1)
  })

  test('waiting for another process ends when the archive is forgotten', async () => {
    const { fixture, store, archiveId, finish } = createHeldArchive()
    const tell = (): void => void fixture.archives.remove(store.archives())
    expect(await waitForOtherWriter({ store, archiveId, finish, tell, clock: quickClock() })).toBeNull()
  })

  test('a finished archive is not waited for', async () => {
    const { fixture, store, finish } = createHeldArchive()
    fixture.write('s2', jsonLine({ by: 'user', text: 'two' }))
    const { archiveId } = fixture.keep('s2')
    const tell = (): never => expect.fail('nothing to wait for')
    expect(await waitForOtherWriter({ store, archiveId, finish, tell })).toMatchObject({ status: 'kept' })
  })
})

/**
 * Creates a store with sessions whose clients were killed, each with this text in its transcript.
 */
function createKilledSessions(texts: Record<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), 'baton-read-new-'))
  mkdirSync(join(dir, 'baton'), { mode: 0o700 })
  let isLeft = false
  const leaveWork = (): void => {
    isLeft = true
  }
  const env = { HOME: dir, BATON_HOME: join(dir, 'baton') }
  const app = openApp({ env, loadConfig, rareWork: () => rareWork, leaveWork })
  const archives = archivesOf(app)
  onTestFinished(() => {
    archives.close()
    app.close()
    rmSync(dir, { recursive: true, force: true })
  })
  for (const [id, text] of Object.entries(texts)) {
    const transcript = join(dir, `${id}.jsonl`)
    writeFileSync(transcript, `${JSON.stringify({ type: 'user', message: { role: 'user', content: text } })}\n`)
    const body = { hook_event_name: 'SessionStart', source: 'startup', session_id: id, transcript_path: transcript }
    const raw = { agent: 'claude-code', kind: 'SessionStart', body: JSON.stringify(body), env: {}, at: Date.now() }
    app.engine.take(raw, { deliver: 'keep' })
    const process = { pid: 2 ** 22 - 1, startedAt: 'long ago' }
    app.store.transaction(() => app.store.putSession({ ...app.store.session(id)!, process }))
  }
  return {
    app,
    archives,
    opened: { app, archives, progress: NO_PROGRESS },
    isLeft: () => isLeft,
    find: (query: string, within = startTimeLimit(60_000)) => archives.search({ query, limit: 5, within }).length,
  }
}

test('a search finds text of a killed session', () => {
  const it = createKilledSessions({ s1: 'the heron builds a nest' })
  const fresh = archiveNewText(it.opened)
  expect(it.find('heron', fresh.within)).toBe(1)
  expect(fresh.unread()).toEqual([])
})

test('transcripts beyond the time limit are listed, planned and left to a background process', () => {
  const it = createKilledSessions({ s1: 'the heron builds a nest' })
  const fresh = archiveNewText(it.opened, startTimeLimit(0))
  expect(it.find('heron', fresh.within)).toBe(0)
  expect(fresh.unread()).toMatchObject([{ session_id: 's1', archive_id: null }])
  expect(it.isLeft()).toBe(true)
  const notes: string[] = []
  reportUnreadTranscripts(fresh.unread(), { note: (text: string) => notes.push(text) } as unknown as Cli)
  expect(notes).toEqual([expect.stringMatching(/5 s were not enough: s1 \(\d+ B\).*baton archive finish/)])
})

test('a transcript that is too large for the time limit does not prevent a small one from being read', () => {
  const it = createKilledSessions({ s1: 'the heron builds a nest', s2: `the stork ${'x'.repeat(200_000)}` })
  // Three milliseconds remain for the whole test, at 50 kB each, so only the small one fits.
  const fresh = archiveNewText(
    it.opened,
    startTimeLimit(3, () => 0),
  )
  expect(it.find('heron')).toBe(1)
  expect(fresh.unread()).toMatchObject([{ session_id: 's2', archive_id: expect.stringMatching(/^arc_/) }])
})

test('a lost index is rebuilt only within the time limit, and the rest is listed', () => {
  const it = createKilledSessions({ s1: 'the heron builds a nest' })
  archiveNewText(it.opened)
  it.archives.close()
  rmSync(it.archives.places.index)
  const fresh = archiveNewText(it.opened, startTimeLimit(0))
  expect(it.find('heron', fresh.within)).toBe(0)
  expect(fresh.unread()).toMatchObject([{ session_id: 's1' }])
  expect(it.find('heron')).toBe(1)
})
