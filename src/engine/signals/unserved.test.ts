import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Sending,
  said,
  type TestApp,
  type TestSession,
  testApp,
  testSession,
} from '../../testing/engine-session.js'
import { setEnabled } from './switches.js'

let app: TestApp
let s: TestSession
let launchers = 0
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start('startup', unserved)
  s.prompt(unserved)
})
afterEach(() => app.remove())

const unserved: Sending = { deliver: 'outbox' }
const laid = (session = s) => existsSync(join(app.outbox, session.id))
const warning = () => s.messages('context').at(-1)!

/** What the launcher prints for an event while the engine is not running. */
function launch(
  event: string,
  options: { killed?: boolean; session?: TestSession } = {},
): { agent: string | null; user: string | null } {
  const out = join(app.outbox, (options.session ?? s).id)
  if (!existsSync(join(out, event))) return said('')
  const taken = `${out}.taken.${++launchers}`
  renameSync(out, taken)
  const answer = readFileSync(join(taken, event), 'utf8')
  if (!options.killed) writeFileSync(join(taken, `given.${event}`), '')
  return said(answer)
}

/** A batch without a server: its hook prints what lies there, then the engine takes its signal. */
function batch(used: number) {
  const heard = launch('PostToolBatch')
  s.step(used, unserved)
  return heard
}

describe('without a server', () => {
  test('a warning is left for the next hook, given once, noted, and confirmed by the client’s going on', () => {
    expect(batch(90_000)).toEqual({ agent: null, user: null })
    expect(laid()).toBe(true)
    expect(warning().status).toBe('queued')
    expect(batch(91_000)).toEqual({
      agent: expect.stringMatching(/^\[baton\] Context level "notice": 90,000/),
      user: expect.stringContaining('notice'),
    })
    expect(warning()).toMatchObject({ status: 'sent', via: 'PostToolBatch' })
    expect(batch(92_000).agent).toBeNull()
    expect(warning().status).toBe('delivered')
    s.end('other', unserved)
    expect(readdirSync(app.outbox)).toEqual([])
  })

  test('several events in between lay nothing twice', () => {
    batch(90_000)
    s.stop(unserved)
    s.statusLine(90_000, unserved)
    expect([launch('UserPromptSubmit').agent, launch('UserPromptSubmit').agent, launch('PostToolBatch').agent]).toEqual(
      [expect.stringContaining('"notice"'), null, null],
    )
  })

  test('a higher level replaces what lies there', () => {
    batch(90_000)
    s.step(120_000, unserved)
    expect(launch('PostToolBatch').agent).toContain('"warning"')
    s.batch([], unserved)
    expect(s.messages('context').map((message) => message.status)).toEqual(['cancelled', 'sent'])
  })

  test('a higher level does not cancel what a hook has already given', () => {
    batch(90_000)
    expect(launch('PostToolBatch').agent).toContain('"notice"')
    s.step(120_000, unserved)
    expect(s.messages('context').map((message) => message.status)).toEqual(['sent', 'queued'])
    expect(launch('PostToolBatch').agent).toContain('"warning"')
  })

  test('a launcher killed with a warning in its hands loses nothing', () => {
    batch(90_000)
    launch('PostToolBatch', { killed: true })
    s.batch([], unserved)
    expect(laid()).toBe(false)
    app.outwait(4_000)
    s.batch([], unserved)
    expect(launch('PostToolBatch').agent).toContain('"notice"')
  })

  test('a warning given just before the client was killed is given again, marked, unless the conversation holds it', () => {
    batch(90_000)
    launch('PostToolBatch')
    s.start('resume', unserved)
    expect(launch('UserPromptSubmit').agent).toMatch(/^\[baton\] \(repeated/)
    s.prompt(unserved)
    s.stop(unserved)
    expect(warning()).toMatchObject({ status: 'delivered', repeated: true })

    s.step(120_000, unserved)
    const { agent } = launch('PostToolBatch')
    s.holds(agent!)
    s.start('resume', unserved)
    expect(laid()).toBe(false)
    expect(warning()).toMatchObject({ status: 'delivered', repeated: false })
  })

  test('what the hook of the restart itself gave is not given again', () => {
    batch(90_000)
    s.end('prompt_input_exit', unserved)
    expect(launch('SessionStart').agent).toContain('"notice"')
    s.start('resume', unserved)
    expect(laid()).toBe(false)
    expect(warning()).toMatchObject({ status: 'sent', via: 'SessionStart', repeated: false })
    s.prompt(unserved)
    s.stop(unserved)
    expect(warning().status).toBe('delivered')
  })

  test.each([
    ['off', () => setEnabled(app.engine.deps, 'all', '', false, app.now().toISOString())],
    ['a compaction', () => s.start('compact', unserved)],
    ['a clear', () => s.end('clear', unserved)],
  ])('%s takes back a warning that lies there', (_, happens) => {
    batch(90_000)
    happens()
    expect(launch('PostToolBatch').agent).toBeNull()
    expect(warning().status).toBe('cancelled')
  })

  test('off does not call cancelled what a hook has given', () => {
    batch(90_000)
    launch('PostToolBatch')
    setEnabled(app.engine.deps, 'session', s.id, false, app.now().toISOString())
    expect(warning()).toMatchObject({ status: 'sent', via: 'PostToolBatch' })
    expect(s.events('message_cancelled')).toEqual([])
  })

  test('a clear that only the new session tells takes back what lies for the old one', () => {
    const env = { CLAUDE_PID: String(process.pid) }
    const before = testSession(app, 'before-0001', env)
    before.start('startup', unserved)
    before.step(90_000, unserved)
    expect(laid(before)).toBe(true)
    testSession(app, 'cleared-0002', env).start('clear', unserved)
    expect(laid(before)).toBe(false)
    expect(before.messages('context')).toMatchObject([{ status: 'cancelled' }])
  })
})

describe('when a transaction fails', () => {
  const failOnce = (work: () => void): void => {
    const put = app.store.putSession
    app.store.putSession = () => {
      throw new Error('no space')
    }
    expect(work).toThrow('no space')
    app.store.putSession = put
  }

  test('nothing is laid for a message that was not kept, and the signal taken again warns once', () => {
    const tool = s.answers(90_000)
    failOnce(() => s.batch([tool], { ...unserved, signalId: 'one' }))
    expect(laid()).toBe(false)
    s.batch([tool], { ...unserved, signalId: 'one' })
    expect(s.messages('context')).toHaveLength(1)
    expect(launch('PostToolBatch').agent).toContain('"notice"')
    s.step(91_000, unserved)
    expect(laid()).toBe(false)
  })

  test('what a hook gave is not forgotten and not given again', () => {
    batch(90_000)
    launch('PostToolBatch')
    const tool = s.answers(120_000)
    failOnce(() => s.batch([tool], unserved))
    expect(s.messages('context').map((message) => message.status)).toEqual(['queued'])
    s.batch([tool], unserved)
    expect(s.messages('context').map((message) => message.status)).toEqual(['sent', 'queued'])
    expect(launch('PostToolBatch').agent).not.toContain('"notice"')
  })
})

test('an outbox that cannot be used hinders neither the measuring nor an answer somebody waits for', () => {
  rmSync(app.outbox, { recursive: true, force: true })
  writeFileSync(app.outbox, 'not a folder')
  s.step(90_000, unserved)
  expect(s.record().track.used).toBe(90_000)
  expect(warning().status).toBe('queued')
  expect(app.logged).toContain('the outbox cannot be used')
  expect(said(s.step(91_000).answer).agent).toContain('"notice"')
})

describe('two engines on one store', () => {
  test('give a warning once, whichever of them is asked first', () => {
    const second = app.secondEngine()
    const tool = s.answers(90_000)
    s.batch([tool], unserved)
    const answer = s.batch([tool], { engine: second })
    expect(said(answer.answer).agent).toContain('"notice"')
    expect(laid()).toBe(false)
    expect(launch('PostToolBatch').agent).toBeNull()
    expect(s.prompt({ engine: second }).answer).toBe('')
    expect(warning().status).toBe('delivered')
  })

  test('one does not give what a hook already took from the other', () => {
    const second = app.secondEngine()
    batch(90_000)
    launch('PostToolBatch')
    expect(s.batch([], { engine: second }).answer).toBe('')
    expect(warning().status).toBe('sent')
  })
})
