import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { archivesOf, finishArchives } from '../../app/archives.js'
import { loadConfig } from '../../config/load-config.js'
import { processInfo } from '../../lib/process-info.js'
import { openApp } from '../open-engine.js'
import * as rareWork from '../rare-work.js'

const DAY = 24 * 3_600_000
const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1' }

function userLine(text: string): string {
  return `${JSON.stringify({ type: 'user', message: { role: 'user', content: text } })}\n`
}

function openHome(config = '') {
  const dir = mkdtempSync(join(tmpdir(), 'baton-sweep-'))
  const home = join(dir, 'baton')
  mkdirSync(home, { mode: 0o700 })
  if (config !== '') writeFileSync(join(home, 'config.yaml'), config)
  const app = openApp({ env: { HOME: dir, BATON_HOME: home }, loadConfig, rareWork: () => rareWork })
  const archives = archivesOf(app)
  onTestFinished(() => {
    archives.close()
    app.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const transcript = (id: string): string => join(dir, `${id}.jsonl`)
  const send = (id: string, event: string, body: object = {}, env: Record<string, string> = ATTENDED): void => {
    app.engine.take(
      {
        agent: 'claude-code',
        kind: event,
        body: JSON.stringify({
          hook_event_name: event,
          session_id: id,
          transcript_path: transcript(id),
          cwd: dir,
          ...body,
        }),
        env: { HOME: dir, ...env },
        at: Date.now(),
      },
      { deliver: 'keep' },
    )
  }
  /** Creates a session with conversation whose client was killed without a signal. */
  const killed = (id: string, env: Record<string, string> = ATTENDED): void => {
    writeFileSync(transcript(id), userLine(`hello from ${id}`))
    send(id, 'SessionStart', { source: 'startup' }, env)
    const gone = { pid: 2 ** 22 - 1, startedAt: 'long ago' }
    app.store.transaction(() => app.store.putSession({ ...app.store.session(id)!, process: gone }))
  }
  return {
    dir,
    home,
    app,
    archives,
    transcript,
    send,
    killed,
    sweep: (limits: { first?: 'oldest' | 'newest'; most?: number; isOver?: () => boolean } = {}) =>
      app.engine.planUnarchived({ first: 'oldest', most: 100, isOver: () => false, ...limits }),
    finish: () => finishArchives(app, archives),
    made: () => app.store.archives().map(({ sessionId, trigger, status }) => `${sessionId} ${trigger} ${status}`),
    log: () => readFileSync(app.home.log, 'utf8'),
  }
}

test('a session whose client was killed is archived by the sweep, and found afterwards', () => {
  const it = openHome()
  it.killed('s1')
  it.sweep()
  it.finish()
  expect(it.made()).toEqual(['s1 sweep kept'])
  expect(it.archives.search({ query: 'hello', limit: 5 })).toHaveLength(1)
})

test('a second sweep archives nothing again', () => {
  const it = openHome()
  it.killed('s1')
  it.sweep()
  it.sweep()
  it.finish()
  it.sweep()
  expect(it.made()).toEqual(['s1 sweep kept'])
})

test('the session of a running client is archived only after its transcript was unchanged for a day', () => {
  const it = openHome()
  it.killed('s1')
  const here = processInfo(process.pid)!
  it.app.store.transaction(() => it.app.store.putSession({ ...it.app.store.session('s1')!, process: here }))
  expect(it.sweep().planned).toEqual([])
  const before = new Date(Date.now() - DAY - 1000)
  utimesSync(it.transcript('s1'), before, before)
  expect(it.sweep().planned).toHaveLength(1)
})

test('lines without conversation after the archive of the end cause no second archive', () => {
  const it = openHome()
  it.killed('s1')
  it.send('s1', 'SessionEnd', { reason: 'other' })
  appendFileSync(it.transcript('s1'), `${JSON.stringify({ type: 'cost-state', total: 1 })}\n`)
  it.finish()
  it.sweep()
  expect(it.made()).toEqual(['s1 session-end kept'])
  appendFileSync(it.transcript('s1'), userLine('one more thing'))
  it.sweep()
  expect(it.made()).toEqual(['s1 session-end kept', 's1 sweep pending'])
})

test('headless runs outside of jobs are not swept', () => {
  const it = openHome()
  it.killed('s1', { CLAUDE_CODE_SESSION_ATTENDED: '0' })
  it.sweep()
  expect(it.made()).toEqual([])
})

test.each(['archive:\n  enabled: false\n', 'archive:\n  at: [pre-compact]\n'])('nothing is swept with %j', (config) => {
  const it = openHome(config)
  it.killed('s1')
  it.sweep()
  expect(it.made()).toEqual([])
})

test('a sweep obeys archiving turned off for one project', () => {
  const it = openHome('overrides:\n  - when: {project: "**/baton-sweep-*"}\n    archive: {enabled: false}\n')
  it.killed('s1')
  it.sweep()
  expect(it.made()).toEqual([])
})

test('a session that the user had forgotten is not swept', () => {
  const it = openHome()
  it.killed('s1')
  const record = it.app.store.session('s1')!
  it.app.store.transaction(() => it.app.store.putSession({ ...record, forgottenAt: new Date().toISOString() }))
  it.sweep()
  expect(it.made()).toEqual([])
})

test('a pruned archive is not made again by the next sweep, but later conversation is archived', () => {
  const it = openHome()
  it.killed('s1')
  it.sweep()
  it.finish()
  it.archives.remove(it.app.store.archives())
  it.sweep()
  expect(it.made()).toEqual([])
  appendFileSync(it.transcript('s1'), userLine('after a resume'))
  it.sweep()
  expect(it.made()).toEqual(['s1 sweep pending'])
})

test('the transcripts that the client deletes first are planned first, as many as the limits allow', () => {
  const it = openHome()
  for (const [n, id] of ['s1', 's2', 's3'].entries()) {
    it.killed(id)
    const at = new Date(Date.now() - (n === 1 ? 20 : 10 + n) * DAY)
    utimesSync(it.transcript(id), at, at)
  }
  const { planned, left } = it.sweep({ most: 2 })
  expect(planned.map(({ record }) => record.sessionId)).toEqual(['s2', 's3'])
  expect(left.map(({ record }) => record.sessionId)).toEqual(['s1'])
  expect(it.sweep({ isOver: () => true }).left).toHaveLength(1)
  expect(it.sweep({ first: 'newest' }).planned.map(({ record }) => record.sessionId)).toEqual(['s1'])
})

test.each<[string, (path: string) => void]>([
  ['a pipe', (path) => void spawnSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['gone', () => {}],
  ['a link that leads nowhere', (path) => symlinkSync(`${path}.gone`, path)],
])('a transcript replaced by %s leaves no archive, and the others are archived', (_, put) => {
  const it = openHome()
  it.killed('s1')
  it.killed('s2')
  rmSync(it.transcript('s1'))
  put(it.transcript('s1'))
  it.sweep()
  it.sweep()
  it.finish()
  expect(it.made()).toEqual(['s2 sweep kept'])
})

test('a link that leads out of the folder of the transcript is refused with a warning', () => {
  const it = openHome()
  it.killed('s1')
  const outside = mkdtempSync(join(tmpdir(), 'baton-outside-'))
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
  renameSync(it.transcript('s1'), join(outside, 'file'))
  symlinkSync(join(outside, 'file'), it.transcript('s1'))
  it.sweep()
  expect(it.made()).toEqual([])
  expect(it.log()).toContain('a symbolic link')
})

test.skipIf(process.getuid?.() !== 0)('a transcript of another user is not archived', () => {
  const it = openHome()
  it.killed('s1')
  chownSync(it.transcript('s1'), 65534, 65534)
  it.sweep()
  expect(it.made()).toEqual([])
})
