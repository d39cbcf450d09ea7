import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { ATTENDED_ENVIRONMENT, prepareHandoffSession } from '../../testing/handoff-stage.js'
import { sessionsNeedingBrief } from '../compaction/deferred-work.js'

const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
beforeEach(() => {
  ;({ app, session: s } = prepareHandoffSession(ATTENDED_ENVIRONMENT))
})
afterEach(() => app.remove())

const briefs = () => app.store.briefs()
const describeBriefs = () =>
  briefs().map(({ author, status, sessionId }) => `${author} ${status} ${sessionId.slice(0, 4)}`)

/** Changes a file and continues the work for a few steps. */
function changeFile(session = s, steps = 6): void {
  const id = 'toolu_edit'
  const input = { file_path: `${session.project}/src/login.ts`, old_string: 'a', new_string: 'b' }
  session.write({
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Edit', input }] },
  })
  session.write({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  })
  for (let n = 0; n < steps; n++) session.step(20_000 + n * 1000)
}

function workAndEnd(reason: string, steps = 6): void {
  changeFile(s, steps)
  s.end(reason)
}

/** Lets the session's client count as dead. */
function killClient(session = s): void {
  const record = session.record()
  app.store.transaction(() => app.store.putSession({ ...record, process: { pid: 2 ** 22 + 7, startedAt: '1' } }))
}

describe('a session that ends', () => {
  test('a session that ends leaves a brief of its work, which no handoff holds and the next start does not get', () => {
    changeFile()
    s.end('prompt_input_exit')
    expect(briefs()).toEqual([])
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
    const [brief] = briefs()
    const text = readFileSync(brief!.path, 'utf8')
    expect(text).toContain('The session ended without a brief.')
    expect(text).toContain('> Never touch legacy/a.ts. Fix the login.')
    expect(text).toContain('src/login.ts')
    expect(app.store.openHandoffs()).toEqual([])
    const next = testSession(app, 'bbbbbbbb-0002', ATTENDED_ENVIRONMENT)
    expect(textsOfAnswer(next.start().answer)).toEqual({ agent: null, user: null })
    expect(next.record()).toMatchObject({ lastHandoffPath: null, handoffs: 0 })
    expect(next.record().seatId).not.toBe(s.record().seatId)
  })

  test('an ended session is processed once, whichever process runs', () => {
    changeFile()
    s.end()
    app.engine.catchUp()
    app.secondEngine().catchUp()
    expect(briefs()).toHaveLength(1)
  })

  test.each<[string, () => void]>([
    ['was cleared', () => workAndEnd('clear')],
    ['is resumed elsewhere', () => workAndEnd('resume')],
    ['was over after a step or two', () => workAndEnd('other', 2)],
    [
      'changed nothing',
      () => {
        for (let n = 0; n < 7; n++) s.step(20_000 + n)
        s.end()
      },
    ],
    [
      'is off',
      () => {
        app.store.transaction(() => app.store.setSwitch('session', s.id, false, app.now().toISOString()))
        workAndEnd('other')
      },
    ],
    [
      'was resumed before anybody came to it',
      () => {
        workAndEnd('other')
        s.start('resume')
      },
    ],
  ])('no late brief is written for a session that %s', (_, happens) => {
    happens()
    app.engine.catchUp()
    expect(briefs()).toEqual([])
  })

  test('no late brief is written when the agent gave one, or for a job', () => {
    changeFile()
    s.reports(150_000, 1)
    s.step(150_000)
    s.endsTurn(BRIEF)
    s.endsTurn(BRIEF)
    s.end()
    const job = testSession(app, 'jjjjjjjj-0001', { BATON_JOB_ID: 'job_1' })
    job.start()
    changeFile(job)
    job.end()
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['agent checked aaaa'])
  })

  test('no late brief is written without a transcript, and it is not tried again', () => {
    changeFile()
    s.end()
    rmSync(s.transcript)
    app.engine.catchUp()
    expect(briefs()).toEqual([])
    expect(s.record().briefWanted).toBeNull()
  })
})

describe('what is left to be done', () => {
  test('the store knows the sessions that need a late brief until it is written', () => {
    workAndEnd('prompt_input_exit')
    expect(sessionsNeedingBrief(app.store, app.now()).map(({ sessionId }) => sessionId)).toEqual([s.id])
    app.engine.catchUp()
    expect(sessionsNeedingBrief(app.store, app.now())).toEqual([])
  })

  test('a late brief that fails does not stop others and is tried again for a day', () => {
    workAndEnd('prompt_input_exit')
    const other = testSession(app, 'bbbbbbbb-0002', ATTENDED_ENVIRONMENT)
    other.start()
    changeFile(other)
    other.end('prompt_input_exit')
    const { deps } = app.engine
    const sources = deps.sources()
    const reader = sources.readers['claude-code']!
    const spoilt: typeof reader = {
      ...reader,
      conversation(path, options) {
        if (path === other.transcript) throw new Error('the disk')
        return reader.conversation(path, options)
      },
    }
    deps.sources = () => ({ ...sources, readers: { 'claude-code': spoilt } })
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
    expect(app.logged).toContain('no brief could be written of a session')
    expect(sessionsNeedingBrief(app.store, app.now()).map(({ sessionId }) => sessionId)).toEqual([other.id])
    app.wait(24 * 3_600)
    app.engine.catchUp()
    expect(sessionsNeedingBrief(app.store, app.now())).toEqual([])
  })
})

describe('a session whose client was killed', () => {
  test('a start in the folder ends a killed client’s session and offers its brief without injecting it', () => {
    changeFile()
    killClient()
    const next = testSession(app, 'bbbbbbbb-0002', ATTENDED_ENVIRONMENT)
    expect(textsOfAnswer(next.start().answer).agent).toBeNull()
    expect(s.record().state).toBe('ended')
    expect(s.events('session_ended').map(({ data }) => data)).toEqual([{ reason: 'gone' }])
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
    const { briefId } = briefs()[0]!
    expect(readFileSync(join(app.outbox, next.id, 'UserPromptSubmit'), 'utf8')).toContain(briefId)
    const { agent, user } = textsOfAnswer(next.prompt().answer)
    expect(agent).toBeNull()
    expect(user).toContain(`baton handoffs use ${briefId}`)
    expect(user).toContain('aaaaaaaa')
    next.stop()
    app.engine.catchUp()
    expect(next.messages('handoff')).toHaveLength(1)
  })

  test('a killed session gets its brief and its last reading if its last steps sent no signal', () => {
    changeFile(s, 1)
    for (let n = 1; n <= 5; n++) s.answers(20_000 + n * 1000)
    killClient()
    testSession(app, 'bbbbbbbb-0002', ATTENDED_ENVIRONMENT).start()
    const { seenAt } = s.record()
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
    expect(s.record()).toMatchObject({ state: 'ended', seenAt, track: { used: 25_000 } })
  })

  test('a killed session of few steps gets no brief', () => {
    changeFile(s, 3)
    killClient()
    testSession(app, 'bbbbbbbb-0002', ATTENDED_ENVIRONMENT).start()
    app.engine.catchUp()
    expect(describeBriefs()).toEqual([])
    expect(s.record().briefWanted).toBeNull()
  })

  test('a killed session stays ended and gets its brief when one of its signals arrives late', () => {
    changeFile()
    killClient()
    testSession(app, 'bbbbbbbb-0002', ATTENDED_ENVIRONMENT).start()
    s.step(40_000)
    s.stop()
    expect(s.record().state).toBe('ended')
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
  })

  test('a client killed while idle counts as ended normally, and no brief is offered', () => {
    changeFile()
    s.stop()
    killClient()
    const next = testSession(app, 'bbbbbbbb-0002', ATTENDED_ENVIRONMENT)
    next.start()
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
    expect(next.messages('handoff')).toEqual([])
  })

  test('a session is not ended by starts elsewhere, by its own start, or while its client may still run', () => {
    changeFile()
    const other = testSession(app, 'cccccccc-0003', ATTENDED_ENVIRONMENT)
    other.hook('SessionStart', { source: 'startup', cwd: '/elsewhere' })
    testSession(app, 'dddddddd-0004', ATTENDED_ENVIRONMENT).start()
    expect(s.record().state).toBe('working')
    killClient()
    s.start()
    expect(s.record().state).toBe('idle')
  })
})

describe('before a compaction', () => {
  test('a brief is kept before each compaction, replaces the one before, and is named in the next request', () => {
    changeFile()
    s.preCompact()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
    app.wait(1)
    const told = textsOfAnswer(s.start('compact').answer).agent!
    expect(told).toContain(briefs()[0]!.path)
    expect(told.match(/Never touch legacy/g)).toHaveLength(1)
    s.boundary()
    s.postCompact()
    s.step(30_000)
    s.preCompact()
    expect(describeBriefs()).toEqual(['baton superseded aaaa', 'baton written aaaa'])
    expect(s.record().lastHandoffPath).toBeNull()
  })

  test('the agent’s own brief of this session is named instead of the one kept before a compaction', () => {
    changeFile()
    s.reports(150_000, 1)
    s.step(150_000)
    s.endsTurn(BRIEF)
    s.endsTurn(BRIEF)
    s.preCompact()
    app.wait(1)
    const told = textsOfAnswer(s.start('compact').answer).agent!
    expect(told).toContain('Run the tests.')
    expect(told).toContain(briefs().find(({ author }) => author === 'agent')!.path)
  })

  test('the brief before a compaction of a very long transcript is written by the background process', () => {
    const filler = {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'x'.repeat(1_000_000) }] },
    }
    for (let n = 0; n < 17; n++) s.write(filler)
    changeFile()
    s.preCompact()
    expect(briefs()).toEqual([])
    app.engine.catchUp()
    expect(describeBriefs()).toEqual(['baton written aaaa'])
  })
})

describe('facts are kept up to date', () => {
  test('facts are kept after a turn that made the transcript longer, so its compaction is read at once', () => {
    const filler = {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'x'.repeat(1_000_000) }] },
    }
    for (let n = 0; n < 17; n++) s.write(filler)
    changeFile()
    s.stop()
    app.engine.catchUp()
    expect(s.record().factsKeptAt).toBeGreaterThan(17_000_000)
    const before = s.record().factsKeptAt
    s.step(31_000)
    s.stop()
    app.engine.catchUp()
    expect(s.record().factsKeptAt).toBe(before)
    expect(s.preCompact().answer).toContain('Never touch legacy/a.ts.')
    expect(describeBriefs()).toEqual(['baton written aaaa'])
  })
})
