import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeClock } from '../../test/harness/clock.js'
import { faultGate, makeGate } from '../../test/harness/gate.js'
import { REPOSITORY } from '../../test/harness/paths.js'
import { end } from '../../test/harness/processes.js'
import { trustProject } from '../../test/harness/trust.js'
import { until } from '../../test/harness/wait.js'
import { processesWithVariable } from '../lib/process-info.js'
import { createTestHome } from '../testing/cli-home.js'

const ENGINE = join(REPOSITORY, 'dist', 'hook-engine.cjs')

interface Event {
  kind: string
  body: object
}

const PERMISSION: Event = { kind: 'Notification', body: { notification_type: 'permission_prompt' } }

/** Prepares a home whose notices go to a server of the test, with one event that gives a notice. */
async function prepareHome({ project = false, event = PERMISSION, at = new Date() } = {}) {
  const texts: string[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      bodies.push(body)
      texts.push((JSON.parse(body) as { text: string }).text)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const fixture = createTestHome()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const file = project ? join(fixture.project, 'baton.yaml') : join(fixture.env.BATON_HOME!, 'config.yaml')
  fixture.put(file, JSON.stringify({ notify: [{ via: 'webhook', url }] }))
  if (project) trustProject(fixture.env, fixture.project)
  const about = { session_id: 'aaaaaaaa-0001', cwd: fixture.project, hook_event_name: event.kind }
  const env = { HOME: fixture.user, BATON_SEAT: 'api' }
  const body = JSON.stringify({ ...about, ...event.body })
  fixture.fill(
    (app) =>
      app.engine.take({ agent: 'claude-code', kind: event.kind, body, env, at: at.getTime() }, { deliver: 'keep' }),
    { now: at },
  )
  const start = (env: Record<string, string> = {}): { child: ChildProcess; done: Promise<number | null> } => {
    const child = spawn(process.execPath, [ENGINE, 'notify'], { env: { ...fixture.env, ...env }, stdio: 'inherit' })
    onTestFinished(() => (child.exitCode === null ? end(child.pid!) : undefined))
    return { child, done: new Promise((resolve) => child.once('exit', resolve)) }
  }
  const notices = () => fixture.fill(({ store }) => store.lastDeliveries())
  return { fixture, url, texts, bodies, start, notices }
}

test('twenty processes that see the same notice send it once', async () => {
  const { texts, start, notices } = await prepareHome()
  const codes = await Promise.all(Array.from({ length: 20 }, () => start().done))
  expect(codes).toEqual(Array.from({ length: 20 }, () => 0))
  expect(texts).toEqual(['api: waits for your permission'])
  expect(notices()).toMatchObject([{ state: 'sent', tries: 1 }])
})

test('a process killed before it sends a notice is followed by one retry, and a second kill by none', async () => {
  const { fixture, texts, start, notices } = await prepareHome()
  const gate = faultGate(fixture.dir, 'NOTICE_CLAIMED')
  const clock = makeClock(fixture.dir)
  const killed = async (): Promise<void> => {
    const { child, done } = start({ ...clock.env, ...gate.env })
    await gate.reached()
    child.kill('SIGKILL')
    await done
    gate.pass()
  }
  await killed()
  await start(clock.env).done
  expect(texts).toEqual([])
  clock.advance(91_000)
  await killed()
  clock.advance(91_000)
  await start(clock.env).done
  expect(texts).toEqual([])
  expect(notices()).toMatchObject([{ state: 'failed', tries: 2, trouble: expect.stringContaining('died') }])
})

test('a process killed after it sent a notice is followed by at most one more notice', async () => {
  const { fixture, texts, start, notices } = await prepareHome()
  const gate = faultGate(fixture.dir, 'NOTICE_SENT')
  const clock = makeClock(fixture.dir)
  const { child, done } = start({ ...clock.env, ...gate.env })
  await gate.reached()
  child.kill('SIGKILL')
  await done
  gate.pass()
  for (let n = 0; n < 3; n++) {
    clock.advance(91_000)
    await start(clock.env).done
  }
  expect(texts).toHaveLength(2)
  expect(notices()).toMatchObject([{ state: 'sent', tries: 2 }])
})

test('a notice of a project that is no longer trusted is not sent', async () => {
  const { fixture, texts, start } = await prepareHome({ project: true })
  await fixture.run(['trust', '--remove'])
  await start().done
  expect(texts).toEqual([])
  expect(fixture.fill(({ store }) => store.nextNoticeAt())).toBeNull()
})

/**
 * Prepares a limit reached ten minutes ago that resets now.
 * The sleeping shell's `date` waits at a gate.
 */
async function sleepUntilReset() {
  const minutes = 10
  const resets = Math.floor(Date.now() / 1000)
  const event: Event = {
    kind: 'status-line',
    body: { rate_limits: { five_hour: { used_percentage: 100, resets_at: resets } } },
  }
  const home = await prepareHome({ event, at: new Date((resets - minutes * 60) * 1000) })
  const { fixture, start } = home
  const clock = makeClock(fixture.dir)
  clock.advance(-minutes * 60_000)
  const gate = makeGate(fixture.dir, 'date')
  const bin = join(fixture.dir, 'bin')
  fixture.put(
    join(bin, 'date'),
    `#!/bin/sh\ncat '${gate.path}' > /dev/null\nPATH='${fixture.env.PATH}' exec date "$@"\n`,
  )
  chmodSync(join(bin, 'date'), 0o755)
  const starts = join(fixture.dir, 'starts')
  fixture.put(
    join(fixture.dir, 'note-start.cjs'),
    `require('node:fs').appendFileSync(${JSON.stringify(starts)}, 'x')\n`,
  )
  const NODE_OPTIONS = `${clock.env.NODE_OPTIONS} --require ${join(fixture.dir, 'note-start.cjs')}`
  await start({ ...clock.env, NODE_OPTIONS, PATH: `${bin}:${fixture.env.PATH}` }).done
  await gate.reached()
  return {
    ...home,
    /** Returns how many Node processes have been started. */
    starts: () => readFileSync(starts, 'utf8').length,
    wakeSleeper() {
      clock.advance(minutes * 60_000)
      gate.open()
    },
  }
}

test('without a server the reset of a limit is reported by a process that slept until then', async () => {
  const { url, texts, bodies, wakeSleeper } = await sleepUntilReset()
  expect(texts).toEqual([expect.stringMatching(/^Five-hour limit reached, resets at /)])
  wakeSleeper()
  await until('the reset is told', () => texts.length === 2)
  expect(texts[1]).toBe('Five-hour limit has reset')
  expect(bodies.join()).not.toContain(url)
})

test('a process that slept until a reset starts nothing in a home that was purged meanwhile', async () => {
  const { fixture, starts, wakeSleeper } = await sleepUntilReset()
  const sleepers = () => processesWithVariable(`BATON_HOME=${fixture.env.BATON_HOME}`)
  expect([sleepers().length > 0, starts()]).toEqual([true, 1])
  rmSync(fixture.env.BATON_HOME!, { recursive: true })
  wakeSleeper()
  await until('the sleeping shell has ended', () => sleepers().length === 0)
  expect([starts(), existsSync(fixture.env.BATON_HOME!)]).toEqual([1, false])
})

test('a process started to send notices does not create a purged home again', async () => {
  const { fixture, start } = await prepareHome()
  rmSync(fixture.env.BATON_HOME!, { recursive: true })
  expect(await start().done).toBe(0)
  expect(existsSync(fixture.env.BATON_HOME!)).toBe(false)
})
