import { spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Pretended, pretend, said } from '../harness/hooks.js'
import { type Server, type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const fileOf = (it: Stage, ...parts: string[]): string => path.join(it.home.batonHome, ...parts)
const spooled = (it: Stage): string[] => readdirSync(fileOf(it, 'spool'))
const mayPass = (it: Stage, session: Pretended): boolean => existsSync(fileOf(it, 'outbox', `${session.id}.far`))
const taken = (it: Stage): Promise<unknown> => until('the server takes it', () => spooled(it).length === 0)

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
  await reportedBatch(session, 20_008)
  await taken(it)
  expect(mayPass(it, session)).toBe(true)
  return session
}

/** Runs a batch whose figure the plugin module reports before the hook, as in the client. */
function reportedBatch(session: Pretended, used: number): ReturnType<Pretended['batch']> {
  session.live(used, Date.now())
  return session.batch(used)
}

test('the signal of a batch far below every level is spooled, and the server processes it', async () => {
  const it = await stage({}, { server: true })
  const session = await farSession(it)
  for (const used of [20_408, 20_808, 21_208]) {
    expect(await reportedBatch(session, used)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    await taken(it)
  }
  expect(await it.session()).toMatchObject({ used_tokens: 21_208, state: 'working' })
  await session.hook('Stop', { last_assistant_message: 'Done.' })
  expect(mayPass(it, session)).toBe(false)
  expect(it.strays()).toEqual([])
})

test('a batch whose reported figure reaches a level is warned in the same batch', async () => {
  const it = await stage({}, { server: true })
  const session = await farSession(it)
  const runs = [await reportedBatch(session, 120_008), await reportedBatch(session, 120_408)]
  expect(said(runs).agent).toHaveLength(1)
  expect(said([runs[0]!]).agent).toHaveLength(1)
})

test('a level whose figure the plugin module reported late is warned of once with the second batch', async () => {
  const it = await stage({}, { server: true })
  const session = await farSession(it)
  const runs = [await session.batch(120_008)]
  await taken(it)
  for (const used of [120_408, 120_808]) runs.push(await session.batch(used))
  expect(runs.map((run) => said([run]).agent.length)).toEqual([0, 1, 0])
})

test('a message that is sent between two batches is in the answer to the next batch', async () => {
  const it = await stage({}, { server: true })
  const session = await farSession(it)
  await reportedBatch(session, 20_408)
  await taken(it)
  await it.json('send', session.id, 'The boat is back.', '--mode', 'important')
  expect(mayPass(it, session)).toBe(false)
  expect(said([await reportedBatch(session, 20_808)]).agent.join()).toContain('The boat is back.')
})

test('the next batch connects to a server that does not read the spool, and later batches avoid it', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = await farSession(it)
  stop(it, server)
  await reportedBatch(session, 20_408)
  expect(spooled(it)).toEqual([expect.stringMatching(/\.PostToolBatch-far$/)])
  expect(existsSync(fileOf(it, 'run', 'slow'))).toBe(false)
  await reportedBatch(session, 20_808)
  expect(existsSync(fileOf(it, 'run', 'slow'))).toBe(true)
  await taken(it)
  server.kill('SIGCONT')
  expect(await it.session()).toMatchObject({ used_tokens: 20_808 })
})

test('a batch that was spooled for a server that died is processed with the next one', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = await farSession(it)
  stop(it, server)
  await reportedBatch(session, 20_408)
  server.kill('SIGKILL')
  await until('the server is gone', () => !existsSync(`/proc/${server.pid}`))
  await reportedBatch(session, 20_808)
  await taken(it)
  expect(await it.session()).toMatchObject({ used_tokens: 20_808, state: 'working' })
})
