import { execFileSync, spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/store/sqlite/driver.js'
import { BATON, REPOSITORY } from '../harness/places.js'
import { withEnvironment } from '../harness/processes.js'
import { runPrint } from '../harness/run-print.js'
import { pause, until } from '../harness/wait.js'
import { crowd, type HookRun, pretend, said } from './hooks.js'
import { LEVELS, levelMark, type Stage, stage } from './stage.js'

vi.setConfig({ testTimeout: 90_000 })

const client = (it: Stage): number => spawn('sleep', ['300'], { env: it.home.env, stdio: 'ignore' }).pid!
const expectQuiet = (runs: HookRun[]): void => expect(runs.filter(({ code, stderr }) => code !== 0 || stderr !== '')).toEqual([])

/** The engines hooks have started in this home. */
function engines(it: Stage): number[] {
  return withEnvironment(`HOME=${it.home.home}`).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('hook-engine')
    } catch {
      return false
    }
  })
}

test('the engine killed at thirty random moments: the store is whole, nothing is lost, each level is crossed once', async () => {
  const it = await stage({})
  const silent = pretend(it.home, client(it))
  const climbing = pretend(it.home, client(it))
  await silent.statusLine(5008)
  const hooks: HookRun[] = []
  let killed = 0
  for (let round = 0; round < 30; round++) {
    const running = [
      silent.hook('PostToolBatch', { tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${round}` }] }),
      climbing.batch(20_008 + round * 5000),
    ]
    await pause(Math.random() * 120)
    for (const pid of engines(it)) {
      process.kill(pid, 'SIGKILL')
      killed++
    }
    hooks.push(...(await Promise.all(running)))
  }
  expect(killed).toBeGreaterThan(5)
  expectQuiet(hooks)
  await until('no engine runs', () => engines(it).length === 0)
  expect((await it.baton('status')).stdout).toContain('(30 tool calls, 0 min)')
  const sessions = await it.sessions()
  expect(sessions.find(({ session_id }) => session_id === climbing.id)).toMatchObject({
    used_tokens: 165_008,
    level: 'critical',
    spend: { input_tokens: 30 * 8 },
  })
  expect((await it.events('level_crossed')).map((event) => event.data.level)).toEqual([...LEVELS])
  for (const prompt of ['go', 'on']) hooks.push(await climbing.hook('UserPromptSubmit', { prompt }))
  expect(said(hooks).agent.join().split(levelMark('critical')).length).toBeGreaterThan(1)
  const db = openDatabase(path.join(it.home.batonHome, 'baton.db'))
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  db.close()
})

test('the server killed under load: hooks go on by themselves, every signal counts once', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = pretend(it.home, client(it))
  await session.statusLine(5008)
  const runs = await crowd(80, 8, async (n) => {
    if (n === 30) server.kill('SIGKILL')
    return session.hook('PostToolBatch', { tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${n}` }] })
  })
  expectQuiet(runs)
  expect((await it.baton('status')).stdout).toContain('(80 tool calls, 0 min)')
  expect(await it.events('silence_alarm')).toHaveLength(1)
  // and another server takes over where it stopped
  await it.serve()
  expect((await session.batch(90_008)).code).toBe(0)
  expect(await it.session()).toMatchObject({ used_tokens: 90_008, level: 'notice' })
})

test('a server that does not answer costs one hook a second, the next ones nothing; its signals count once', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = pretend(it.home, client(it))
  await session.statusLine(5008)
  const hook = (n: number): Promise<HookRun> =>
    session.hook('PostToolBatch', { tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${n}` }] })
  const usual = await hook(0)
  server.kill('SIGSTOP')
  const first = await hook(1)
  const next = [await hook(2), await hook(3), await hook(4)]
  server.kill('SIGCONT')
  expectQuiet([usual, first, ...next])
  expect(first.ms).toBeGreaterThan(900)
  expect(first.ms).toBeLessThan(1200 + Math.max(usual.ms, 100))
  for (const run of next) expect(run.ms).toBeLessThan(900)
  // awake again it takes the call it was asked about: that one was counted without it
  await pause(300)
  for (let n = 5; n < 19; n++) await hook(n)
  expect(await it.events('silence_alarm')).toEqual([])
  await hook(19)
  expect(await it.events('silence_alarm')).toHaveLength(1)
})

test('a client that never closes its pipe, or stops in the middle, does not hold the hook', async () => {
  const it = await stage({})
  const session = pretend(it.home, client(it))
  const begun = JSON.stringify({ session_id: session.id, hook_event_name: 'PostToolBatch', tool_calls: ['x'.repeat(50_000)] })
  const runs = await Promise.all([
    session.hook('PostToolBatch', {}, { stdin: '', open: true }),
    session.hook('Stop', {}, { stdin: begun.slice(0, 200), open: true }),
    session.hook('UserPromptSubmit', {}, { stdin: begun.slice(0, 40_000), open: true }),
  ])
  for (const [i, run] of runs.entries()) {
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(run.ms).toBeLessThan([3000, 3000, 6500][i]!)
  }
  expect(await it.sessions()).toEqual([])
  // of a batch the beginning is all that is asked for
  const batch = await session.hook('PostToolBatch', {}, { stdin: begun.slice(0, 40_000), open: true })
  expect(batch).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(batch.ms).toBeLessThan(1000)
  expect(await it.sessions()).toMatchObject([{ session_id: session.id, state: 'working' }])
})

test('the package removed without uninstall: hooks and status line are silent and keep nothing', async () => {
  const it = await stage({ steps: [{ bash: 'echo a', used: 150_008 }, { bash: 'echo b', used: 151_008 }, 'Done.'] })
  const copy = path.join(it.home.dir, 'package')
  cpSync(path.dirname(BATON), path.join(copy, 'dist'), { recursive: true })
  symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(copy, 'node_modules'))
  execFileSync(process.execPath, [path.join(copy, 'dist', 'baton.mjs'), 'install'], { env: it.home.env, cwd: it.home.project })
  const session = pretend(it.home, client(it))
  expect((await session.statusLine(30_008)).stdout).toContain('30k')
  rmSync(copy, { recursive: true })

  const large = { tool_calls: [{ tool_name: 'Bash', tool_use_id: 't1', tool_response: 'x'.repeat(20_000) }] }
  const runs = [await session.statusLine(31_008), await session.hook('PostToolBatch', large), await session.batch(150_008)]
  for (const run of runs) expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const run = await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6', args: ['--include-hook-events'] })
  expect([run.code, run.stderr]).toEqual([0, ''])
  const answers = run.messages.filter((m) => m.subtype === 'hook_response')
  expect(answers.filter((m) => m.exit_code !== 0 || m.stdout !== '' || m.stderr !== '')).toEqual([])
  expect(it.strays().filter((name) => !name.startsWith('outbox'))).toEqual([])
  expect(await it.sessions()).toHaveLength(1)
})
