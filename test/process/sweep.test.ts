import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.js'
import { openApp } from '../../src/engine/open-engine.js'
import * as rareWork from '../../src/engine/rare-work.js'
import { faultGate } from '../harness/gate.js'
import { REPOSITORY } from '../harness/paths.js'
import { tempDir } from '../harness/temp-dir.js'

const ENGINE = path.join(REPOSITORY, 'dist', 'hook-engine.cjs')
const SWEPT = 'sessions that ended without a signal were archived'

/** Makes a home in which a sweep is due, with sessions whose clients were killed. */
function killedSessions(count: number) {
  const dir = tempDir()
  const root = path.join(dir, 'baton')
  mkdirSync(path.join(root, 'run'), { recursive: true, mode: 0o700 })
  const env = { HOME: dir, BATON_HOME: root, PATH: process.env.PATH! }
  const app = openApp({ env, loadConfig, rareWork: () => rareWork })
  onTestFinished(() => app.close())
  for (let n = 1; n <= count; n++) {
    const transcript = path.join(dir, `s${n}.jsonl`)
    const line = { type: 'user', message: { role: 'user', content: `hello from ${n}` } }
    writeFileSync(transcript, `${JSON.stringify(line)}\n`)
    const start = { hook_event_name: 'SessionStart', source: 'startup', cwd: dir }
    app.engine.take(
      {
        agent: 'claude-code',
        kind: 'SessionStart',
        env: { HOME: dir },
        at: Date.now(),
        body: JSON.stringify({ ...start, session_id: `s${n}`, transcript_path: transcript }),
      },
      { deliver: 'keep' },
    )
    const gone = { pid: 2 ** 22 - 1, startedAt: 'long ago' }
    app.store.transaction(() => app.store.putSession({ ...app.store.session(`s${n}`)!, process: gone }))
  }
  const makeDue = (): void => {
    const run = path.join(root, 'run')
    for (const name of readdirSync(run)) if (name.startsWith('swept-')) rmSync(path.join(run, name))
    writeFileSync(path.join(run, 'swept-1'), '')
    utimesSync(path.join(run, 'swept-1'), 1, 1)
  }
  makeDue()
  return {
    dir,
    root,
    app,
    makeDue,
    keep: (more: Record<string, string> = {}): ChildProcess =>
      spawn(process.execPath, [ENGINE, 'keep'], { env: { ...env, ...more }, stdio: 'ignore' }),
    archives: () => app.store.archives().map(({ sessionId, status }) => `${sessionId} ${status}`),
    swept: () => readFileSync(app.home.log, 'utf8').split(SWEPT).length - 1,
  }
}

const ended = async (child: ChildProcess): Promise<void> => void (await once(child, 'exit'))

test('of twenty simultaneous sweeps one archives every session once', async () => {
  const it = killedSessions(5)
  const children = Array.from({ length: 20 }, () => it.keep())
  await Promise.all(children.map(ended))
  expect(it.archives().sort()).toEqual(['s1 kept', 's2 kept', 's3 kept', 's4 kept', 's5 kept'])
  expect(it.swept()).toBe(1)
})

test('the next sweep does the work of one that was killed before it planned anything', async () => {
  const it = killedSessions(2)
  const gate = faultGate(it.dir, 'SWEEP_CLAIMED')
  const child = it.keep(gate.env)
  await gate.reached()
  child.kill('SIGKILL')
  await ended(child)
  gate.open()
  await ended(it.keep())
  expect(it.archives()).toEqual([])
  it.makeDue()
  await ended(it.keep())
  expect(it.archives().sort()).toEqual(['s1 kept', 's2 kept'])
})

test('the next process archives, within the same hour, the sessions that a killed sweep had planned', async () => {
  const it = killedSessions(2)
  const gate = faultGate(it.dir, 'SWEEP_PLANNED')
  const child = it.keep(gate.env)
  await gate.reached()
  expect(it.archives().sort()).toEqual(['s1 pending', 's2 pending'])
  child.kill('SIGKILL')
  await ended(child)
  gate.open()
  for (const id of ['s1', 's2']) rmSync(path.join(it.dir, `${id}.jsonl`))
  await ended(it.keep())
  expect(it.archives().sort()).toEqual(['s1 kept', 's2 kept'])
  expect(it.swept()).toBe(1)
})

test('a sweep does not wait for another one that is stopped in the middle', async () => {
  const it = killedSessions(1)
  const gate = faultGate(it.dir, 'SWEEP_PLANNED')
  const held = it.keep(gate.env)
  await gate.reached()
  await ended(it.keep())
  expect(it.archives()).toEqual(['s1 kept'])
  gate.open()
  await ended(held)
  expect(it.archives()).toEqual(['s1 kept'])
})

test('a sweep that could not write to the archive folder is retried', async () => {
  const it = killedSessions(1)
  writeFileSync(path.join(it.root, 'archive'), 'a file in its place')
  await ended(it.keep())
  expect(it.app.store.archives()).toMatchObject([{ status: 'failed', retryAt: expect.any(String) }])
  expect(readFileSync(it.app.home.log, 'utf8')).toContain('an archive could not be written')
})
