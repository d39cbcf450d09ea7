import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type SendSignalOptions,
  type TestApp,
  type TestSession,
  testApp,
  testSession,
  textsOfAnswer,
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

const unserved: SendSignalOptions = { deliver: 'outbox' }
const hasStoredAnswer = (session = s) => existsSync(join(app.outbox, session.id))
const warning = () => s.messages('context').at(-1)!

/** Returns the text the launcher prints for an event while the engine is not running. */
function launch(
  event: string,
  options: { killed?: boolean; session?: TestSession } = {},
): { agent: string | null; user: string | null } {
  const out = join(app.outbox, (options.session ?? s).id)
  if (!existsSync(join(out, event))) return textsOfAnswer('')
  const taken = `${out}.taken.${++launchers}`
  renameSync(out, taken)
  const answer = readFileSync(join(taken, event), 'utf8')
  if (!options.killed) {
    const mark = join(taken, `given.${event}`)
    writeFileSync(mark, '')
    utimesSync(mark, app.now(), app.now())
  }
  return textsOfAnswer(answer)
}

/**
 * Runs a batch without a server: the hook prints the stored answer, then the engine processes its
 * signal.
 */
function batch(used: number) {
  const heard = launch('PostToolBatch')
  s.step(used, unserved)
  return heard
}

describe('without a server', () => {
  test('without a server a warning is stored for the next hook, delivered once and then confirmed', () => {
    expect(batch(90_000)).toEqual({ agent: null, user: null })
    expect(hasStoredAnswer()).toBe(true)
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

  test.each([
    ['then', () => {}],
    ['before', () => s.statusLine(90_000, unserved)],
  ])(
    'a warning that a resumed client printed before its start was processed, and found %s, is not repeated',
    (_, find) => {
      batch(90_000)
      // The start waits in the spool while the hook of the first prompt prints the answer.
      app.wait(10)
      expect(launch('UserPromptSubmit').agent).toContain('"notice"')
      find()
      s.start('resume', { ...unserved, spooled: 6 })
      s.prompt(unserved)
      expect(warning()).toMatchObject({ status: 'sent', via: 'UserPromptSubmit', repeated: false })
      expect(launch('PostToolBatch').agent).toBeNull()
      s.batch([], unserved)
      expect(warning()).toMatchObject({ status: 'delivered', repeated: false })
    },
  )

  test('several events in between store no warning twice', () => {
    batch(90_000)
    s.stop(unserved)
    s.statusLine(90_000, unserved)
    expect([launch('UserPromptSubmit').agent, launch('UserPromptSubmit').agent, launch('PostToolBatch').agent]).toEqual(
      [expect.stringContaining('"notice"'), null, null],
    )
  })

  test('a higher level replaces the stored warning', () => {
    batch(90_000)
    s.step(120_000, unserved)
    expect(launch('PostToolBatch').agent).toContain('"warning"')
    s.batch([], unserved)
    expect(s.messages('context').map((message) => message.status)).toEqual(['cancelled', 'sent'])
  })

  test('a higher level does not cancel a warning that a hook has delivered', () => {
    batch(90_000)
    expect(launch('PostToolBatch').agent).toContain('"notice"')
    s.step(120_000, unserved)
    expect(s.messages('context').map((message) => message.status)).toEqual(['sent', 'queued'])
    expect(launch('PostToolBatch').agent).toContain('"warning"')
  })

  test('a launcher killed while it delivers a warning loses nothing', () => {
    batch(90_000)
    launch('PostToolBatch', { killed: true })
    s.batch([], unserved)
    expect(hasStoredAnswer()).toBe(false)
    app.outwait(4_000)
    s.batch([], unserved)
    expect(launch('PostToolBatch').agent).toContain('"notice"')
  })

  test('a warning delivered just before a kill is sent again, marked, unless the conversation holds it', () => {
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
    expect(hasStoredAnswer()).toBe(false)
    expect(warning()).toMatchObject({ status: 'delivered', repeated: false })
  })

  test('a warning that the restart’s own hook delivered is not sent again', () => {
    batch(90_000)
    s.end('prompt_input_exit', unserved)
    app.wait(2)
    expect(launch('SessionStart').agent).toContain('"notice"')
    s.start('resume', { ...unserved, spooled: 2 })
    expect(hasStoredAnswer()).toBe(false)
    expect(warning()).toMatchObject({ status: 'sent', via: 'SessionStart', repeated: false })
    s.prompt(unserved)
    s.stop(unserved)
    expect(warning().status).toBe('delivered')
  })

  test.each([
    ['switching off', () => setEnabled(app.engine.deps, 'all', '', false, app.now().toISOString())],
    ['a compaction', () => s.start('compact', unserved)],
    ['/clear', () => s.end('clear', unserved)],
  ])('%s withdraws a stored warning', (_, happens) => {
    batch(90_000)
    happens()
    expect(launch('PostToolBatch').agent).toBeNull()
    expect(warning().status).toBe('cancelled')
  })

  test('switching off does not cancel a warning that a hook has delivered', () => {
    batch(90_000)
    launch('PostToolBatch')
    setEnabled(app.engine.deps, 'session', s.id, false, app.now().toISOString())
    expect(warning()).toMatchObject({ status: 'sent', via: 'PostToolBatch' })
    expect(s.events('message_cancelled')).toEqual([])
  })

  test('a /clear reported only by the new session withdraws the stored warning of the old one', () => {
    const env = { CLAUDE_PID: String(process.pid) }
    const before = testSession(app, 'before-0001', env)
    before.start('startup', unserved)
    before.step(90_000, unserved)
    expect(hasStoredAnswer(before)).toBe(true)
    testSession(app, 'cleared-0002', env).start('clear', unserved)
    expect(hasStoredAnswer(before)).toBe(false)
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

  test('a failed transaction stores no warning in the outbox, and the repeated signal warns once', () => {
    const tool = s.answers(90_000)
    failOnce(() => s.batch([tool], { ...unserved, signalId: 'one' }))
    expect(hasStoredAnswer()).toBe(false)
    s.batch([tool], { ...unserved, signalId: 'one' })
    expect(s.messages('context')).toHaveLength(1)
    expect(launch('PostToolBatch').agent).toContain('"notice"')
    s.step(91_000, unserved)
    expect(hasStoredAnswer()).toBe(false)
  })

  test('a failed transaction neither forgets nor repeats a warning that a hook delivered', () => {
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

test('an unusable outbox prevents neither measuring nor a direct answer', () => {
  rmSync(app.outbox, { recursive: true, force: true })
  writeFileSync(app.outbox, 'not a folder')
  s.step(90_000, unserved)
  expect(s.record().track.used).toBe(90_000)
  expect(warning().status).toBe('queued')
  expect(app.logged).toContain('the outbox cannot be used')
  expect(textsOfAnswer(s.step(91_000).answer).agent).toContain('"notice"')
})

describe('two engines on one store', () => {
  test('two engines on one store deliver a warning once, whichever is asked first', () => {
    const second = app.secondEngine()
    const tool = s.answers(90_000)
    s.batch([tool], unserved)
    const answer = s.batch([tool], { engine: second })
    expect(textsOfAnswer(answer.answer).agent).toContain('"notice"')
    expect(hasStoredAnswer()).toBe(false)
    expect(launch('PostToolBatch').agent).toBeNull()
    expect(s.prompt({ engine: second }).answer).toBe('')
    expect(warning().status).toBe('delivered')
  })

  test('an engine does not deliver a warning that a hook already took from another engine', () => {
    const second = app.secondEngine()
    batch(90_000)
    launch('PostToolBatch')
    expect(s.batch([], { engine: second }).answer).toBe('')
    expect(warning().status).toBe('sent')
  })
})
