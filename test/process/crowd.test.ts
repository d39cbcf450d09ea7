import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { crowd, type HookRun, type Pretended, pretend, said } from '../harness/hooks.js'
import { LEVELS, levelMark, type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const SERVED = [
  ['without a server', false],
  ['with a server', true],
] as const

/** Starts a process that stands for the client and lives as long as the test. */
const client = (it: Stage): number => spawn('sleep', ['300'], { env: it.home.env, stdio: 'ignore' }).pid!

const expectQuiet = (runs: HookRun[]): void =>
  expect(runs.filter(({ code, stderr }) => code !== 0 || stderr !== '')).toEqual([])

/** Checks that no signals, answers or locks remain once every process has ended. */
async function expectNoStrays(it: Stage, ...sessions: Pretended[]): Promise<void> {
  for (const session of sessions) await session.hook('SessionEnd', { reason: 'prompt_input_exit' })
  expect((await it.sessions()).map((session) => session.state)).toEqual(sessions.map(() => 'ended'))
  await until(
    () => `nothing is left: ${it.strays()}`,
    () => it.strays().length === 0,
  )
}

test('100 tool batches of one session, 20 at a time, are all counted and raise one alarm', async () => {
  const it = await stage({})
  const session = pretend(it.home, client(it))
  await session.statusLine(5008)
  const runs = await crowd(100, 20, (n) =>
    session.hook('PostToolBatch', { tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${n}` }] }),
  )
  runs.push(
    await session.hook('UserPromptSubmit', { prompt: 'go' }),
    await session.hook('UserPromptSubmit', { prompt: 'go' }),
  )
  expectQuiet(runs)
  expect((await it.baton('status')).stdout).toMatch(/\(100 tool calls, \d+ min\)/)
  expect(await it.events('silence_alarm')).toHaveLength(1)
  expect(await it.sessions()).toHaveLength(1)
  expect(said(runs)).toEqual({ agent: [], user: [expect.stringContaining('baton doctor')] })
  await expectNoStrays(it, session)
})

test.each(SERVED)(
  '100 answers of one session, 20 hooks at a time, are counted once each, and each level warns once: %s',
  async (_, server) => {
    const it = await stage({}, { server })
    const session = pretend(it.home, client(it))
    const runs = await crowd(100, 20, (n) =>
      n % 4 === 3 ? session.statusLine(1600 * n + 3208) : session.batch(1600 * n + 3208),
    )
    const hooks = runs.filter((__, n) => n % 4 !== 3)
    hooks.push(
      await session.hook('UserPromptSubmit', { prompt: 'go' }),
      await session.hook('UserPromptSubmit', { prompt: 'go' }),
    )
    expectQuiet(runs)
    expect(await it.session()).toMatchObject({
      level: 'critical',
      cycle: 1,
      spend: { input_tokens: 75 * 8, output_tokens: 75 * 50, cache_creation_tokens: 75 * 1000 },
    })
    expect((await it.events('level_crossed')).map((event) => event.data.level)).toEqual([...LEVELS])
    const warnings = await it.events('context_warning')
    expect(warnings.flatMap((event) => event.data.levels)).toEqual([...LEVELS])
    const messages = await it.messages()
    expect(messages.map((message) => message.message_id)).toEqual(warnings.map((event) => event.data.messageId))
    // Each level is reported exactly once, or replaced by a higher one while it was pending.
    const heard = said(hooks).agent.join('\n')
    for (const message of messages) {
      expect(['delivered', 'cancelled']).toContain(message.status)
      expect(heard.split(message.agent_text!)).toHaveLength(message.status === 'delivered' ? 2 : 1)
    }
    expect(heard.split(levelMark('critical'))).toHaveLength(2)
    await expectNoStrays(it, session)
  },
)

test('100 hooks of ten sessions in two projects, 20 at a time, do not affect each other', async () => {
  const it = await stage({}, { server: true })
  const sessions = Array.from({ length: 10 }, (__, i) =>
    pretend(it.home, client(it), i % 2 ? it.home.project : it.home.dir),
  )
  const runs = await crowd(100, 20, async (n) => ({
    of: n % 10,
    run: await sessions[n % 10]!.batch(100_008 + 4200 * Math.floor(n / 10) + (n % 10)),
  }))
  for (const [of, session] of sessions.entries())
    runs.push({ of, run: await session.hook('UserPromptSubmit', { prompt: 'go' }) })
  expectQuiet(runs.map(({ run }) => run))
  const seen = await it.sessions()
  expect(seen).toHaveLength(10)
  expect(new Set(seen.map((session) => session.seat_id)).size).toBe(10)
  for (const [i, session] of sessions.entries()) {
    const figure = 137_808 + i
    expect(seen.find(({ session_id }) => session_id === session.id)).toMatchObject({
      project: i % 2 ? it.home.project : it.home.dir,
      used_tokens: figure,
      level: 'warning',
      spend: { input_tokens: 10 * 8, output_tokens: 10 * 50 },
    })
    const { agent, user } = said(runs.filter(({ of }) => of === i).map(({ run }) => run))
    expect(agent.join().split(levelMark('warning'))).toHaveLength(2)
    expect(user.every((line) => line.includes(session.id.slice(0, 8)))).toBe(true)
    // Every figure in a session's warnings ends with the session's own digit.
    expect(
      [...`${agent}`.matchAll(/level "\w+": [\d,]*(\d) tokens/g)].every(([, digit]) => digit === String((8 + i) % 10)),
    ).toBe(true)
  }
  expect((await it.events('level_crossed')).map((event) => event.session_id).sort()).toEqual(
    sessions.flatMap(({ id }) => [id, id]).sort(),
  )
  await expectNoStrays(it, ...sessions)
})
