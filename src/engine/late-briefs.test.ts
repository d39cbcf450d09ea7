import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readers } from '../agents/readers.js'
import { around } from '../around.js'
import { makeAround } from './around.js'
import { wantedBriefs } from './late-work.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let house: TrialHouse
let s: TrialSession
beforeEach(() => {
  house = trialHouse()
  s = trialSession(house, 'aaaaaaaa-0001', ENV)
  s.start()
  s.write({
    ...{ type: 'user', promptSource: 'typed', turnOrigin: 'human' },
    message: { role: 'user', content: 'Never touch legacy/a.ts. Fix the login.' },
  })
  s.prompt()
})
afterEach(() => house.remove())

const briefs = () => house.store.briefs()
const shown = () => briefs().map(({ author, status, sessionId }) => `${author} ${status} ${sessionId.slice(0, 4)}`)

/** A file is changed, and the work goes on for a few steps. */
function works(session = s, steps = 6): void {
  const id = 'toolu_edit'
  const input = { file_path: `${session.project}/src/login.ts`, old_string: 'a', new_string: 'b' }
  session.write({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Edit', input }] } })
  session.write({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] } })
  for (let n = 0; n < steps; n++) session.step(20_000 + n * 1000)
}

function ends(reason: string, steps = 6): void {
  works(s, steps)
  s.end(reason)
}

/** Its client is no process any more. */
function dies(session = s): void {
  const record = session.record()
  house.store.transaction(() => house.store.putSession({ ...record, process: { pid: 2 ** 22 + 7, startedAt: '1' } }))
}

describe('a session that ends', () => {
  it('leaves a brief of its work, which no handoff holds and the next start does not get', () => {
    works()
    s.end('prompt_input_exit')
    expect(briefs()).toEqual([])
    house.engine.catchUp()
    expect(shown()).toEqual(['baton written aaaa'])
    const [brief] = briefs()
    const text = readFileSync(brief!.path, 'utf8')
    expect(text).toContain('The session ended without a brief.')
    expect(text).toContain('> Never touch legacy/a.ts. Fix the login.')
    expect(text).toContain('src/login.ts')
    expect(house.store.openHandoffs()).toEqual([])
    const next = trialSession(house, 'bbbbbbbb-0002', ENV)
    expect(said(next.start().answer)).toEqual({ agent: null, user: null })
    expect(next.record()).toMatchObject({ lastHandoffPath: null, handoffs: 0 })
    expect(next.record().seatId).not.toBe(s.record().seatId)
  })

  it('is looked at once, whoever looks', () => {
    works()
    s.end()
    house.engine.catchUp()
    house.secondEngine().catchUp()
    expect(briefs()).toHaveLength(1)
  })

  it.each<[string, () => void]>([
    ['was cleared', () => ends('clear')],
    ['is resumed elsewhere', () => ends('resume')],
    ['was over after a step or two', () => ends('other', 2)],
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
        house.store.transaction(() => house.store.setSwitch('session', s.id, false, house.now().toISOString()))
        ends('other')
      },
    ],
    [
      'was resumed before anybody came to it',
      () => {
        ends('other')
        s.start('resume')
      },
    ],
  ])('leaves none when it %s', (_, happens) => {
    happens()
    house.engine.catchUp()
    expect(briefs()).toEqual([])
  })

  it('leaves none when the agent gave one, and none of a job', () => {
    works()
    s.reports(150_000, 1)
    s.step(150_000)
    s.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
    s.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
    s.end()
    const job = trialSession(house, 'jjjjjjjj-0001', { BATON_JOB_ID: 'job_1' })
    job.start()
    works(job)
    job.end()
    house.engine.catchUp()
    expect(shown()).toEqual(['agent checked aaaa'])
  })

  it('with a transcript that is gone leaves none, and nobody tries again', () => {
    works()
    s.end()
    rmSync(s.transcript)
    house.engine.catchUp()
    expect(briefs()).toEqual([])
    expect(s.record().briefWanted).toBeNull()
  })
})

describe('what is left to be done', () => {
  it('is known by the store, until it is done', () => {
    ends('prompt_input_exit')
    expect(wantedBriefs(house.store, house.now()).map(({ sessionId }) => sessionId)).toEqual([s.id])
    house.engine.catchUp()
    expect(wantedBriefs(house.store, house.now())).toEqual([])
  })

  it('of one session keeps no other from it, and is tried again for a day', () => {
    ends('prompt_input_exit')
    const other = trialSession(house, 'bbbbbbbb-0002', ENV)
    other.start()
    works(other)
    other.end('prompt_input_exit')
    const { parts } = house.engine
    const spoilt = makeAround(
      {
        'claude-code': {
          ...readers['claude-code']!,
          conversation(path, options) {
            if (path === other.transcript) throw new Error('the disk')
            return readers['claude-code']!.conversation(path, options)
          },
        },
      },
      () => around.briefGround({ parts, record: s.record(), read: null }).keeper,
      () => null,
      'x',
      () => 0,
    )
    spoilt.catchUp(parts)
    expect(shown()).toEqual(['baton written aaaa'])
    expect(house.logged).toContain('no brief could be written of a session')
    expect(wantedBriefs(house.store, house.now()).map(({ sessionId }) => sessionId)).toEqual([other.id])
    house.wait(24 * 3_600)
    spoilt.catchUp(parts)
    expect(wantedBriefs(house.store, house.now())).toEqual([])
  })
})

describe('a session whose client was killed', () => {
  it('is ended by the next start in its folder; its brief is offered to the person and given to nobody', () => {
    works()
    dies()
    const next = trialSession(house, 'bbbbbbbb-0002', ENV)
    expect(said(next.start().answer).agent).toBeNull()
    expect(s.record().state).toBe('ended')
    expect(s.events('session_ended').map(({ data }) => data)).toEqual([{ reason: 'gone' }])
    house.engine.catchUp()
    expect(shown()).toEqual(['baton written aaaa'])
    const { briefId } = briefs()[0]!
    expect(readFileSync(join(house.outbox, next.id, 'UserPromptSubmit'), 'utf8')).toContain(briefId)
    const { agent, user } = said(next.prompt().answer)
    expect(agent).toBeNull()
    expect(user).toContain(`baton handoffs use ${briefId}`)
    expect(user).toContain('aaaaaaaa')
    next.stop()
    house.engine.catchUp()
    expect(next.messages('handoff')).toHaveLength(1)
  })

  it('while it was idle is as one that ended: nobody is told', () => {
    works()
    s.stop()
    dies()
    const next = trialSession(house, 'bbbbbbbb-0002', ENV)
    next.start()
    house.engine.catchUp()
    expect(shown()).toEqual(['baton written aaaa'])
    expect(next.messages('handoff')).toEqual([])
  })

  it('is left alone by starts elsewhere, by its own start, and while it may still run', () => {
    works()
    const other = trialSession(house, 'cccccccc-0003', ENV)
    other.hook('SessionStart', { source: 'startup', cwd: '/elsewhere' })
    trialSession(house, 'dddddddd-0004', ENV).start()
    expect(s.record().state).toBe('working')
    dies()
    s.start()
    expect(s.record().state).toBe('idle')
  })
})

describe('before a compaction', () => {
  it('a brief is kept, in the place of the one before, and the next request names its file', () => {
    works()
    s.preCompact()
    expect(shown()).toEqual(['baton written aaaa'])
    house.wait(1)
    const told = said(s.start('compact').answer).agent!
    expect(told).toContain(briefs()[0]!.path)
    expect(told.match(/Never touch legacy/g)).toHaveLength(1)
    s.boundary()
    s.postCompact()
    s.step(30_000)
    s.preCompact()
    expect(shown()).toEqual(['baton superseded aaaa', 'baton written aaaa'])
    expect(s.record().lastHandoffPath).toBeNull()
  })

  it('the brief the agent wrote in this session goes before it', () => {
    works()
    s.reports(150_000, 1)
    s.step(150_000)
    s.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
    s.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
    s.preCompact()
    house.wait(1)
    const told = said(s.start('compact').answer).agent!
    expect(told).toContain('Run the tests.')
    expect(told).toContain(briefs().find(({ author }) => author === 'agent')!.path)
  })

  it('of a transcript too long for a hook it is made by the process that reads it', () => {
    const filler = {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'x'.repeat(1_000_000) }] },
    }
    for (let n = 0; n < 17; n++) s.write(filler)
    works()
    s.preCompact()
    expect(briefs()).toEqual([])
    house.engine.catchUp()
    expect(shown()).toEqual(['baton written aaaa'])
  })
})

describe('facts are kept up to date', () => {
  it('after a turn that made the transcript longer, and a compaction of a long one is read at once', () => {
    const filler = {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'x'.repeat(1_000_000) }] },
    }
    for (let n = 0; n < 17; n++) s.write(filler)
    works()
    s.stop()
    house.engine.catchUp()
    expect(s.record().factsKeptAt).toBeGreaterThan(17_000_000)
    const before = s.record().factsKeptAt
    s.step(31_000)
    s.stop()
    house.engine.catchUp()
    expect(s.record().factsKeptAt).toBe(before)
    expect(s.preCompact().answer).toContain('Never touch legacy/a.ts.')
    expect(shown()).toEqual(['baton written aaaa'])
  })
})
