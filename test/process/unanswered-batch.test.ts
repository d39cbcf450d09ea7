import { spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Pretended, pretend, said } from '../harness/hooks.js'
import { type Server, type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const fileOf = (it: Stage, ...parts: string[]): string => path.join(it.home.batonHome, ...parts)
const spooled = (it: Stage): string[] => readdirSync(fileOf(it, 'spool'))
const mayPass = (it: Stage, session: Pretended): boolean => existsSync(fileOf(it, 'outbox', `${session.id}.far`))
const hasPassed = (it: Stage, session: Pretended): boolean => existsSync(fileOf(it, 'outbox', `${session.id}.batch`))
const stored = (it: Stage, used: number): Promise<unknown> =>
  until(`${used} tokens are stored`, async () => (await it.session()).used_tokens === used)

/** Lets hooks trust the mark of a session however long the test takes. */
function keepMark(it: Stage, session: Pretended): void {
  writeFileSync(fileOf(it, 'outbox', `${session.id}.far`), '73480 9999999999 83500\n')
}

/** Stops a server permanently, right after it has renewed its lease. */
function stop(it: Stage, server: Server): void {
  server.kill('SIGSTOP')
  writeFileSync(fileOf(it, 'run', 'lease'), '9999999999\n')
  // On a busy machine hooks may already avoid the running server as slow.
  rmSync(fileOf(it, 'run', 'slow'), { force: true })
}

/** Starts a session far below every level whose figures the plugin module reports. */
async function farSession(it: Stage): Promise<Pretended> {
  const client = spawn('sleep', ['300'], { env: it.home.env, stdio: 'ignore' })
  const session = pretend(it.home, client.pid!)
  session.live(20_008, Date.now())
  await session.hook('UserPromptSubmit', { prompt: 'go' })
  await until('the session is far from every level', () => mayPass(it, session))
  return session
}

/**
 * Runs a batch whose figure the plugin module reports before the hook, as in the client. The last
 * batch is dated back, because the file system's clock may stand still between two batches.
 */
function reportedBatch(it: Stage, session: Pretended, used: number): ReturnType<Pretended['batch']> {
  if (hasPassed(it, session)) utimesSync(fileOf(it, 'outbox', `${session.id}.batch`), 0, 0)
  session.live(used, Date.now())
  return session.batch(used)
}

test('the server processes the module’s report of a batch whose hook sends no signal', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = await farSession(it)
  keepMark(it, session)
  stop(it, server)
  expect(await reportedBatch(it, session, 20_408)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect([spooled(it), existsSync(fileOf(it, 'run', 'slow'))]).toEqual([[], false])
  server.kill('SIGCONT')
  await stored(it, 20_408)
  expect(await it.session()).toMatchObject({ state: 'working' })
  await session.hook('Stop', { last_assistant_message: 'Done.' })
  expect(mayPass(it, session)).toBe(false)
  session.live(20_808, Date.now())
  expect(await it.session()).toMatchObject({ state: 'idle' })
  expect(it.strays()).toEqual([])
})

test('a batch whose reported figure reaches a level is warned in the same batch', async () => {
  const it = await stage({}, { server: true })
  const session = await farSession(it)
  const runs = [await reportedBatch(it, session, 120_008), await reportedBatch(it, session, 120_408)]
  expect(said(runs).agent).toHaveLength(1)
  expect(said([runs[0]!]).agent).toHaveLength(1)
})

test('a level whose figure the plugin module reports late is warned of once with the second batch', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = await farSession(it)
  keepMark(it, session)
  stop(it, server)
  session.live(20_408, Date.now())
  const runs = [await session.batch(120_008)]
  server.kill('SIGCONT')
  await until('the server has read the transcript', () => !mayPass(it, session))
  for (const used of [120_408, 120_808]) runs.push(await session.batch(used))
  expect(runs.map((run) => said([run]).agent.length)).toEqual([0, 1, 0])
})

test('a message that is sent between two batches is in the answer to the next batch', async () => {
  const it = await stage({}, { server: true })
  const session = await farSession(it)
  await reportedBatch(it, session, 20_408)
  await stored(it, 20_408)
  await it.json('send', session.id, 'The boat is back.', '--mode', 'important')
  expect(mayPass(it, session)).toBe(false)
  expect(said([await reportedBatch(it, session, 20_808)]).agent.join()).toContain('The boat is back.')
})

test('a batch without a report of its own asks a server that hangs, and later batches avoid it', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = await farSession(it)
  keepMark(it, session)
  stop(it, server)
  await reportedBatch(it, session, 20_408)
  expect(existsSync(fileOf(it, 'run', 'slow'))).toBe(false)
  await session.batch(20_808)
  expect(existsSync(fileOf(it, 'run', 'slow'))).toBe(true)
  server.kill('SIGKILL')
  await stored(it, 20_808)
})

test('a mark that a killed server left holds for seconds', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = await farSession(it)
  stop(it, server)
  server.kill('SIGKILL')
  await until('the server is gone', () => !existsSync(`/proc/${server.pid}`))
  writeFileSync(fileOf(it, 'outbox', `${session.id}.far`), `73480 ${Math.floor(Date.now() / 1000)} 83500\n`)
  await reportedBatch(it, session, 20_808)
  await stored(it, 20_808)
})

test('without a server, a reported batch far below every level starts no engine', async () => {
  const it = await stage({})
  const session = await farSession(it)
  await until('the engine has ended', () => spooled(it).length === 0 && !existsSync(fileOf(it, 'run', 'drain')))
  keepMark(it, session)
  expect(await reportedBatch(it, session, 20_408)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect([hasPassed(it, session), spooled(it), existsSync(fileOf(it, 'run', 'drain'))]).toEqual([true, [], false])
  await session.hook('Stop', { last_assistant_message: 'Done.' })
  await stored(it, 20_408)
  expect(mayPass(it, session)).toBe(false)
})

test('without a server, a batch whose reported figure jumps over a level is warned in the same batch', async () => {
  const it = await stage({})
  const session = await farSession(it)
  keepMark(it, session)
  const runs = [await reportedBatch(it, session, 20_408), await reportedBatch(it, session, 120_008)]
  expect(runs.map((run) => said([run]).agent.length)).toEqual([0, 1])
})
