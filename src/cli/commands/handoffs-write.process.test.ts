import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  homeWithWorkingSession,
  SESSION_A,
  SESSION_B,
  sessionEnvironment,
  startTurn,
  USER_REQUEST,
} from '../../testing/cli-handoffs.js'
import { sendClientEvent, type TestHome } from '../../testing/cli-home.js'

interface View {
  brief_id: string
  path: string
  [field: string]: unknown
}

const json = async <T = View>(fixture: TestHome, ...args: string[]): Promise<T> =>
  JSON.parse((await fixture.run([...args, '--json'])).stdout) as T

test('handoffs write stores a brief without a model, outside of any handoff', async () => {
  const fixture = homeWithWorkingSession()
  const brief = await json(fixture, 'handoffs', 'write', '--session', SESSION_A)
  expect(brief).toMatchObject({ session_id: SESSION_A, author: 'baton', status: 'written', sequence: 1 })
  expect(readFileSync(brief.path, 'utf8')).toContain(`> ${USER_REQUEST}`)
  const listed = await json<{ briefs: View[]; handoffs: unknown[] }>(fixture, 'handoffs', 'list')
  expect(listed.briefs.map(({ brief_id }) => brief_id)).toEqual([brief.brief_id])
  expect(listed.handoffs).toEqual([])
})

test('handoffs use gives the brief once to a running session, with its next request', async () => {
  const fixture = homeWithWorkingSession()
  const { brief_id, path } = await json(fixture, 'handoffs', 'write', '--session', SESSION_A)
  startTurn(fixture, SESSION_B, { BATON_SEAT: 'web' })
  const used = await json(fixture, 'handoffs', 'use', brief_id, '--session', SESSION_B)
  expect(used).toMatchObject({ brief_id, status: 'written', used_by_session_id: null })
  const [told] = fixture.fill(({ store }) => store.messages().filter(({ category }) => category === 'brief'))
  expect(told).toMatchObject({ session_id: SESSION_B, mode: 'urgent' })
  expect(told!.agent_text).toContain(path)
  expect(told!.agent_text).toContain(USER_REQUEST)
  expect((await fixture.run(['handoffs', 'use', brief_id, '--session', SESSION_B])).code).toBe(4)
})

test('handoffs use picks the newest running session, also when another ended after its last signal', async () => {
  const fixture = homeWithWorkingSession()
  const { brief_id } = await json(fixture, 'handoffs', 'write', '--session', SESSION_A)
  startTurn(fixture, SESSION_B, { BATON_SEAT: 'web' })
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', SESSION_B, fixture.project, { reason: 'other' }))
  expect((await fixture.run(['handoffs', 'use', brief_id])).code).toBe(0)
  const [told] = fixture.fill(({ store }) => store.messages().filter(({ category }) => category === 'brief'))
  expect(told).toMatchObject({ session_id: SESSION_A })
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', SESSION_A, fixture.project, { reason: 'other' }))
  const refused = await fixture.run(['handoffs', 'use', brief_id])
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('No session runs in this folder.') })
})

test('an agent cannot write or use a brief for another session', async () => {
  const fixture = homeWithWorkingSession()
  const { brief_id } = await json(fixture, 'handoffs', 'write', '--session', SESSION_A)
  startTurn(fixture, SESSION_B, { BATON_SEAT: 'web' })
  expect(
    (await fixture.run(['handoffs', 'write', '--session', SESSION_A], { env: sessionEnvironment(SESSION_B) })).code,
  ).toBe(4)
  expect(
    (await fixture.run(['handoffs', 'use', brief_id, '--session', SESSION_A], { env: sessionEnvironment(SESSION_B) }))
      .code,
  ).toBe(4)
  expect((await fixture.run(['handoffs', 'use', brief_id], { env: sessionEnvironment(SESSION_B) })).code).toBe(0)
})

test('forgetting a session deletes the briefs that were written of it', async () => {
  const fixture = homeWithWorkingSession()
  const transcript = fixture.fill(({ store }) => store.session(SESSION_A)!.transcriptPath!)
  const message = { role: 'user', content: `Look at this: ${'word '.repeat(80_000)}` }
  appendFileSync(
    transcript,
    `${JSON.stringify({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message })}\n`,
  )
  const { path } = await json(fixture, 'handoffs', 'write', '--session', SESSION_A)
  const facts = join(
    fixture.fill(({ home }) => home.facts),
    SESSION_A,
  )
  expect(existsSync(facts)).toBe(true)
  expect((await fixture.run(['archive', 'forget', SESSION_A])).code).toBe(0)
  expect(existsSync(path)).toBe(false)
  expect(existsSync(facts)).toBe(false)
})
