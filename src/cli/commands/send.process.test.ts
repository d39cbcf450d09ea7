import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createTestHome, sendReading } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

function withSeats() {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendReading(app, {
      session: A,
      project: fixture.project,
      used: 20_000,
      env: { BATON_SEAT: 'api', BATON_PARENT_SEAT: 'lead' },
    })
    sendReading(app, { session: B, project: fixture.project, used: 20_000, env: { BATON_SEAT: 'web' } })
  })
  const listed = async (...args: string[]) => (await fixture.run(['messages', '--json', ...args])).json.messages
  return { fixture, listed }
}

test('send accepts a seat, a session, the beginning of its id, or a parent that was not seen yet', async () => {
  const { fixture, listed } = withSeats()
  for (const to of ['api', A, 'aaaa', 'lead']) {
    const { code, json } = await fixture.run(['send', to, `hello ${to}`, '--json'])
    expect([code, json]).toEqual([
      0,
      expect.objectContaining({ message_id: expect.stringMatching(/^msg_/), status: 'queued' }),
    ])
  }
  expect((await listed('--seat', 'api')).map((m: { agent_text: string }) => m.agent_text)).toEqual([
    '[baton] Message from user: hello api',
    `[baton] Message from user: hello ${A}`,
    '[baton] Message from user: hello aaaa',
  ])
  expect(await listed('--seat', 'lead')).toMatchObject([{ session_id: null, mode: 'sequential', category: 'message' }])
})

test('the sender is the given name, or the seat of the calling agent, or else the user', async () => {
  const { fixture, listed } = withSeats()
  await fixture.run(['send', 'api', 'one', '--from', 'Lena', '--mode', 'urgent'])
  await fixture.run(['send', 'api', 'two'], { env: { CLAUDE_CODE_SESSION_ID: B } })
  await fixture.run(['send', 'api', '-'], { input: 'three\nlines\nlong\n', env: { CLAUDE_CODE_SESSION_ID: 'unknown' } })
  expect(await listed()).toMatchObject([
    { sender: 'Lena', mode: 'urgent' },
    { sender: 'web', agent_text: '[baton] Message from web: two' },
    { sender: 'user', agent_text: '[baton] Message from user: three\nlines\nlong\n' },
  ])
  const { stdout } = await fixture.run(['messages'])
  expect(stdout).toMatch(/ api +– +Lena +message +now +queued +delivered with the next event of the session +one /)
})

test('send refuses an impossible message and changes nothing', async () => {
  const { fixture, listed } = withSeats()
  const wrong: [string[], number, RegExp, string?][] = [
    [['send', 'apj', 'hello'], 3, /Did you mean api\?/],
    [['send', 'nobody-at-all', 'hello'], 3, /no session or seat/],
    [['send', 'api', '  '], 2, /empty/],
    [['send', 'api', '-'], 2, /empty/, '\n'],
    [['send', 'api', '-'], 2, /longer than 1 MB/, 'x'.repeat(1024 * 1024 + 1)],
    [['send', 'api', 'hello', '--mode', 'urgnt'], 2, /Did you mean urgent\?/],
    [['send', 'api', 'hello', '--from', 'baton'], 2, /the name of Baton itself/],
    [['send', 'api', 'hello', '--from', 'a\nb'], 2, /one line/],
    [['send', 'api', 'hello', '--from', 'n'.repeat(5_000)], 2, /^.{0,150}\n.*at most 64/],
    [['send', 'api', 'hello', '--now'], 4, /Without --now/],
    [['send', 'api'], 2, /needs more/],
  ]
  for (const [args, code, said, input] of wrong) {
    const ran = await fixture.run(args, input === undefined ? {} : { input })
    expect([args.join(' ').slice(0, 60), ran.code, ran.stderr]).toEqual([
      expect.anything(),
      code,
      expect.stringMatching(said),
    ])
  }
  expect(await listed()).toEqual([])
})

test('a long text is stored in a private file, and the agent gets its beginning and the path', async () => {
  const { fixture, listed } = withSeats()
  const text = `begins ${'y'.repeat(12_000)} ends`
  expect((await fixture.run(['send', 'api', '-'], { input: text })).code).toBe(0)
  const [{ text_file, agent_text }] = await listed()
  expect(readFileSync(text_file, 'utf8')).toBe(text)
  expect(statSync(text_file).mode & 0o777).toBe(0o600)
  expect(agent_text).toContain(`Read all 12012 characters in ${text_file}`)
  expect(agent_text.length).toBeLessThan(2_000)
})

test('an undelivered message can be cancelled once', async () => {
  const { fixture, listed } = withSeats()
  const { message_id } = (await fixture.run(['send', 'api', 'never mind', '--json'])).json
  expect((await fixture.run(['messages', 'cancel', message_id, '--json'])).json).toEqual({
    message_id,
    status: 'cancelled',
  })
  expect(await listed()).toMatchObject([{ status: 'cancelled' }])
  expect((await fixture.run(['messages', 'cancel', 'msg_none'])).code).toBe(3)
  expect((await fixture.run(['messages', 'cancel'])).code).toBe(2)
  expect((await fixture.run(['messages', 'cancle', message_id])).stderr).toContain(
    'Did you mean baton messages cancel?',
  )
})

test('the prefix seat_ alone names no seat, even if there is only one', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used: 20_000 }))
  for (const name of ['seat_', 'seat']) {
    const refused = await fixture.run(['send', name, 'hello'])
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain(`There is no session or seat "${name}".`)
  }
  expect((await fixture.run(['send', 'seat_', 'hello'])).stderr).toContain('Give at least four characters of the id.')
  const seatId = fixture.fill(({ store }) => store.session(A)!.seatId)
  expect((await fixture.run(['send', seatId.slice(0, 9), 'hello'])).code).toBe(0)
})

test('send says why a message waits, and that no session will read it if none runs', async () => {
  const { fixture } = withSeats()
  expect((await fixture.run(['send', 'api', 'hello'])).stdout).toMatch(/^Queued msg_\w+: delivered .*session/)
  expect((await fixture.run(['send', 'lead', 'hello'])).stdout).toMatch(
    /^Queued msg_\w+: its seat has no running session\./,
  )
})

test('a message to the seat of an ended job says that no session will read it', async () => {
  const fixture = createTestHome()
  expect((await fixture.run(['run', '--prompt', 'x', '--runtime', 'scripted'])).code).toBe(0)
  const session = fixture.fill(({ store }) => store.sessions().find(({ jobId }) => jobId !== null)!)
  const sent = async (state: 'ended' | 'idle') => {
    fixture.fill(({ store }) => store.putSession({ ...session, state }))
    return (await fixture.run(['send', session.seatId, 'hello'])).stdout
  }
  expect(await sent('ended')).toContain(': its seat has no running session.')
  // A killed client leaves a session that has not ended.
  expect(await sent('idle')).toContain(': its job has ended, so nobody reads it.')
})
