import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { runPrint, startPrint } from '../harness/run-print.js'
import { countWarnings, levelMark, mainRequests, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'

test('server restarts and an upgrade in between neither repeat nor lose a warning', async () => {
  const it = await stage({
    steps: [
      { bash: 'echo a', used: 90_008, grow: 100, repeat: 3 },
      { text: 'One.', used: 90_408 },
      { bash: 'echo b', used: 91_008, grow: 100, repeat: 3 },
      { text: 'Two.', used: 91_408 },
      { bash: 'echo c', used: 92_008, grow: 100, repeat: 3 },
      { text: 'Three.', used: 120_008 },
      { bash: 'echo d', used: 121_008, grow: 100, repeat: 2 },
      { text: 'Four.', used: 121_408 },
    ],
  })
  const server = await it.serve()
  const { sessionId } = await runPrint(it.home, { prompt: 'go', model: MODEL })
  const on = () => runPrint(it.home, { prompt: 'on', model: MODEL, args: ['--resume', sessionId!] })
  await server.stop()
  await on()
  expect(await it.json('install')).toMatchObject({ changed: false })
  const again = await it.serve()
  await on()
  await again.stop()
  await on()
  const [notice, warning] = [countWarnings(it.model, 'notice'), countWarnings(it.model, 'warning')]
  expect(notice).toEqual([0, notice[1], 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
  expect(warning).toEqual([...Array(12).fill(0), 1, 1, 1])
  expect((await it.events('level_crossed')).map((event) => event.data.level)).toEqual(['notice', 'warning'])
  expect(await it.messages()).toMatchObject([
    { status: 'delivered', repeated: false },
    { status: 'delivered', repeated: false },
  ])
  expect(await it.session()).toMatchObject({ cycle: 1, used_tokens: 121_408 })
})

const KILLED = [
  ['no server, its transcript holds the warning', false, true],
  ['server, its transcript lost the warning', true, false],
] as const

test.each(KILLED)(
  'a warning is repeated with a mark only if it was lost when the client was killed before its request: %s',
  async (_, server, held) => {
    const it = await stage(
      {
        steps: [
          { bash: 'echo a', used: 84_008, grow: 100, repeat: 2 },
          { bash: 'touch hold', used: 84_208 },
          { bash: 'echo b', used: 84_308, grow: 100, repeat: 2 },
          { text: 'Done.', used: 84_508 },
        ],
      },
      { server, config: 'levels: [{ name: notice, at: 84200 }]\n' },
    )
    // Another hook of the user holds the client, so that it dies between our answer and its next
    // request. The hook ends with the folder.
    const mine = it.home.readSettings() as { hooks: Record<string, unknown[]> }
    const holding = { hooks: [{ type: 'command', command: 'while [ -e hold ]; do sleep 0.1; done' }] }
    it.home.settings({ hooks: { ...mine.hooks, PostToolBatch: [...mine.hooks.PostToolBatch!, holding] } })
    const run = startPrint(it.home, { prompt: 'go', model: MODEL })
    const session = await until('the session', () => run.messages.find((m) => m.session_id)?.session_id)
    const transcript = (): string => it.home.transcript(session) ?? ''
    await until('the warning is given', () => transcript().includes('hook_additional_context'))
    run.kill('SIGKILL')
    await run.done
    expect(countWarnings(it.model, 'notice').at(-1)).toBe(0)
    // The client writes its transcript late, so lines may be missing when it dies.
    const { transcript_path } = await it.session()
    const lines = transcript().split('\n')
    if (!held) writeFileSync(transcript_path!, lines.filter((line) => !line.includes('[baton]')).join('\n'))

    it.home.settings({ hooks: mine.hooks })
    await runPrint(it.home, { prompt: 'on', model: MODEL, args: ['--resume', session] })
    const after = mainRequests(it.model).slice(3)
    expect(after.map((entry) => countOccurrences(entry, levelMark('notice')))).toEqual([1, 1, 1])
    expect(countOccurrences(after[0]!, '(repeated: the client stopped')).toBe(held ? 0 : 1)
    expect(await it.messages()).toMatchObject([{ status: 'delivered', repeated: !held }])
    expect(await it.events('level_crossed')).toHaveLength(1)
  },
)

test('the conversation contains a warning once when the client was killed after its request', async () => {
  const it = await stage({
    steps: [
      { bash: 'echo a', used: 90_008, grow: 100, repeat: 3 },
      { text: 'Done.', used: 90_408, fail: { kind: 'hang', times: 1 } },
    ],
  })
  const run = startPrint(it.home, { prompt: 'go', model: MODEL })
  await until('the model hangs', () => mainRequests(it.model).length === 4)
  expect(countWarnings(it.model, 'notice').at(-1)).toBe(1)
  run.kill('SIGKILL')
  const { sessionId } = await run.done
  await runPrint(it.home, { prompt: 'on', model: MODEL, args: ['--resume', sessionId!] })
  // what the client had not written when it died it does again, so there may be more than one
  // request
  const after = countWarnings(it.model, 'notice').slice(4)
  expect(after.length).toBeGreaterThan(0)
  expect(after).toEqual(after.map(() => 1))
  expect(await it.messages()).toMatchObject([{ status: 'delivered' }])
})
