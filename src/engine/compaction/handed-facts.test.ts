import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { requestBrief } from '../handoff/handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const FORBIDDEN = 'Never touch the folder legacy/payments.'
const DECIDED = 'Sessions are kept in Redis, because cookies were rejected by the security team.'
const NEXT = 'Rename the column user_mail to email_address in schema.sql.'
const ASKED = 'Who owns the staging cluster, platform or payments?'
const PLANTED = [FORBIDDEN, DECIDED, NEXT, ASKED]
const BRIEF = `# Handoff brief

## Goal and why
Fix the login for the shop.

## State
${'The form is written, and the tests of the form pass on this machine. '.repeat(40)}

## Next exact step
${NEXT}

## Decisions
- ${DECIDED}

## Failed attempts
${'Tried to mock the clock, which the framework does not allow. '.repeat(30)}

## Open questions
- ${ASKED}

## Constraints from the user
- ${FORBIDDEN}

## Last user request
> Fix the login.
`
const BARE = '# Handoff brief\n\n## Goal and why\nThe login.\n\n## State\nIt works.\n'

let app: TestApp
let fresh: TestSession
beforeEach(() => {
  app = testApp()
  const s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  typePrompt(s, 'Fix the login.')
  s.prompt()
  s.step(150_000)
  endTurn(s, BRIEF)
  s.end('clear')
  fresh = testSession(app, 'bbbbbbbb-0002', ENV)
  fresh.start('clear')
  fresh.write({ type: 'user', message: { role: 'user', content: '[baton] Continue the work from brief 1' } })
  fresh.hook('UserPromptSubmit', { prompt: '[baton] Continue the work from brief 1' })
  fresh.step(30_000)
})
afterEach(() => app.remove())

function typePrompt(session: TestSession, content: string): void {
  session.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content } })
}
const endTurn = (session: TestSession, answer: string) => session.endsTurn(answer)

/** Runs a compaction and returns the summariser's instructions and the text for the agent. */
function compact(trigger: 'auto' | 'manual'): { instructed: string; told: string } {
  const instructed = fresh.preCompact(trigger).answer
  app.wait(1)
  const { answer } = fresh.start('compact')
  fresh.boundary(trigger)
  fresh.postCompact(trigger)
  app.wait(1)
  fresh.step(31_000)
  return { instructed, told: textsOfAnswer(answer).agent ?? '' }
}

test('a handed brief is given to the summariser and put back at each compaction of its session', () => {
  const first = compact('auto')
  for (const planted of PLANTED) {
    expect(first.instructed).toContain(planted)
    expect(first.told).toContain(planted)
  }
  expect(first.told).toMatch(/brief that this session began with/)
  const second = compact('manual')
  for (const planted of PLANTED) expect(second.told).toContain(planted)
})

test('facts of a handed brief that the summary lacks are in the loss report', () => {
  compact('auto')
  const lost = app.store.compactions(fresh.id)[0]!.loss!.lost.map(({ text }) => text)
  for (const planted of PLANTED) expect(lost).toContain(planted)
})

test('the next brief holds the facts of a handed one, even if the agent did not repeat them', () => {
  compact('auto')
  compact('manual')
  requestBrief(app.engine.deps, { sessionId: fresh.id, caller: null, reason: null })
  for (let asked = 0; asked < 3; asked++) endTurn(fresh, BARE)
  const second = app.store.briefs({ sessionId: fresh.id }).findLast(({ author }) => author === 'agent')!
  for (const planted of PLANTED) expect(readFileSync(second.path, 'utf8')).toContain(planted)
  fresh.end('clear')
  const third = testSession(app, 'cccccccc-0003', ENV)
  const told = textsOfAnswer(third.start('clear').answer).agent!
  for (const planted of PLANTED) expect(told).toContain(planted)
})

test('a brief that the session wrote itself later replaces the handed one after a compaction', () => {
  requestBrief(app.engine.deps, { sessionId: fresh.id, caller: null, reason: null })
  for (let asked = 0; asked < 3; asked++) endTurn(fresh, `${BARE}\n## Next exact step\nWrite the release notes.\n`)
  const { told } = compact('manual')
  expect(told).toMatch(/brief that you wrote/)
  expect(told).toContain('Write the release notes.')
  expect(told).toContain(FORBIDDEN)
})

test('a request of the user in the fresh session replaces the last request of the handed brief', () => {
  typePrompt(fresh, 'Now write the docs.')
  fresh.step(32_000)
  const { told } = compact('auto')
  expect(told).toMatch(/word for word\n> Now write the docs\./)
  expect(told).not.toContain('> [baton]')
})
