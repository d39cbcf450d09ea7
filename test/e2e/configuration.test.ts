import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { copies } from '../../src/model/log.js'
import { runPrint } from '../harness/run-print.js'
import { levelMark, mainRequests, stage, told } from './stage.js'

vi.setConfig({ testTimeout: 60_000 })

const MODEL = 'claude-opus-4-6'
const SERVED = [
  ['no server', false],
  ['server', true],
] as const

/** A tool of the session itself writes the configuration, between two answers. */
const write = (text: string): string => `printf '%s' '${text}' > "$BATON_HOME/config.yaml"`

test.each(SERVED)('a level moved in config.yaml is where it was moved, at once: %s', async (_, server) => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 60_008 },
        { bash: write('levels: [{ name: notice, at: 30% }]\n'), used: 61_008 },
        // what was written is looked at again after a second at the latest
        { bash: 'sleep 1.1', used: 62_008 },
        { bash: 'echo b', used: 63_008, grow: 1000, repeat: 3 },
        { text: 'Done.', used: 66_008 },
      ],
    },
    { server },
  )
  await runPrint(it.home, { prompt: 'go', model: MODEL })
  const counts = told(it.model, 'notice')
  expect(counts.slice(0, 2)).toEqual([0, 0])
  expect(counts.slice(-2)).toEqual([1, 1])
  const session = await it.session()
  expect(session).toMatchObject({ level: 'notice', used_tokens: 66_008 })
  expect((await it.show(session.session_id)).levels[0]).toMatchObject({ name: 'notice', at_tokens: 50_100, reachable: true })
})

test.each(SERVED)(
  'a broken configuration: the session goes on with the last good one, and the person is told once: %s',
  async (_, server) => {
    const it = await stage(
      {
        steps: [
          { bash: 'echo a', used: 40_008 },
          { bash: write('levels: [{ name: notice, at: 101% }]\n'), used: 41_008 },
          { bash: 'sleep 1.1', used: 42_008 },
          { bash: 'echo b', used: 43_008, grow: 1000, repeat: 3 },
          { bash: 'echo c', used: 60_008, grow: 1000, repeat: 3 },
          { text: 'Done.', used: 63_008 },
        ],
      },
      { server, config: 'levels: [{ name: notice, at: 30% }]\n' },
    )
    const run = await runPrint(it.home, { prompt: 'go', model: MODEL })
    expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
    const shown = run.messages.flatMap((m) => (m.subtype === 'informational' ? [String(m.content)] : []))
    expect(shown.filter((line) => line.includes('the last good one stays in force (levels[0].at'))).toHaveLength(1)
    expect(shown.filter((line) => line.includes('[baton] notice: '))).toHaveLength(1)
    const last = mainRequests(it.model).at(-1)!
    expect([copies(last, levelMark('notice')), copies(last, 'last good')]).toEqual([1, 0])
  },
)

const WRONG: [string, string, { key: string; reason: RegExp; hint: RegExp }][] = [
  ['an unknown key', 'handof: { mode: auto }\n', { key: 'handof', reason: /unknown/i, hint: /handoff/ }],
  [
    'falling levels',
    'levels: [{ name: a, at: 60% }, { name: b, at: 50% }]\n',
    { key: 'levels[1].at', reason: /rise|below|lower/i, hint: /./ },
  ],
  ['a level at 0', 'levels: [{ name: notice, at: 0% }]\n', { key: 'levels[0].at', reason: /0/, hint: /./ }],
  ['a level at 101 %', 'levels: [{ name: notice, at: 101% }]\n', { key: 'levels[0].at', reason: /100/, hint: /./ }],
  [
    'a text for a number',
    'guards: { cooldown_seconds: "60" }\n',
    { key: 'guards.cooldown_seconds', reason: /number/i, hint: /60/ },
  ],
]

test.each(WRONG)('config check names %s: key, file, reason, and what to write', async (_, text, { key, reason, hint }) => {
  const it = await stage({}, { config: text })
  const file = path.join(it.home.batonHome, 'config.yaml')
  const run = await it.baton('config', 'check', '--json')
  expect(run.code).toBe(2)
  const { ok, errors } = JSON.parse(run.stdout) as { ok: boolean; errors: Record<string, string>[] }
  expect([ok, errors.length]).toEqual([false, 1])
  expect(errors[0]).toMatchObject({ key, file, reason: expect.stringMatching(reason), hint: expect.stringMatching(hint) })
  const person = await it.baton('config', 'check')
  expect(person.code).toBe(2)
  for (const part of [key, 'config.yaml', errors[0]!.hint!]) expect(person.stdout + person.stderr).toContain(part)
})
