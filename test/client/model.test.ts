import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { countOccurrences, type LogEntry } from '../../src/model/log.js'
import { type Model, startModel } from '../../src/model/model.js'
import { parseScript } from '../../src/model/parse-script.js'
import type { ScriptInput } from '../../src/model/script.js'
import { type Home, makeHome } from '../harness/home.js'
import { REPOSITORY } from '../harness/paths.js'
import { runPrint, startPrint } from '../harness/run-print.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

async function scripted(script: ScriptInput): Promise<{ model: Model; home: Home }> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  return { model, home: makeHome({ model }) }
}

const figures = (entries: LogEntry[]) => entries.map((e) => e.answer?.used)
const main = (model: Model) => model.log().filter((e) => e.kind === 'main')
const given = (entries: LogEntry[]) => entries.filter((e) => e.outcome === 'answered')

/** Returns the tokens of each answer according to the transcript. */
function usedInTranscript(transcript: string | null): number[] {
  const seen = new Map<string, number>()
  for (const line of (transcript ?? '').split('\n').filter(Boolean)) {
    const { type, message } = JSON.parse(line)
    if (type !== 'assistant' || message.model === '<synthetic>') continue
    const u = message.usage
    seen.set(message.id, u.input_tokens + u.cache_creation_input_tokens + u.cache_read_input_tokens)
  }
  return [...seen.values()]
}

test('the client runs the scripted model’s parallel tools and keeps its thinking blocks', async () => {
  const { model, home } = await scripted({
    steps: [
      {
        thinking: 'Three at once.',
        text: 'Looking.',
        bash: ['echo $((40+1))x', 'echo $((40+2))x'],
        read: 'README.md',
        used: 60_008,
      },
      'Done.',
    ],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result?.result).toBe('Done.')
  const [, second] = model.log()
  expect([countOccurrences(second!, '41x'), countOccurrences(second!, '42x')]).toEqual([1, 1])
  expect(countOccurrences(second!, '# A project')).toBe(1)
  expect(usedInTranscript(home.transcript(run.sessionId!))).toEqual([60_008, 61_008])
})

test('a scripted subagent has its own answers and figures and consumes no step of its parent', async () => {
  const { model, home } = await scripted({
    steps: [{ bash: 'true', used: 40_008 }, { agent: 'count the files' }, { text: 'Done.', used: 45_008 }],
    subagents: [
      {
        when: 'count the files',
        steps: [
          { bash: 'ls', used: 111_008 },
          { text: 'There is one.', used: 112_008 },
        ],
      },
    ],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result?.result).toBe('Done.')
  expect(figures(main(model))).toEqual([40_008, 41_008, 45_008])
  const sub = model.log().filter((e) => e.kind === 'subagent')
  expect(figures(sub)).toEqual([111_008, 112_008])
  expect(new Set(sub.map((e) => e.agent_id)).size).toBe(1)
  expect(countOccurrences(main(model).at(-1)!, 'There is one.')).toBe(1)
})

test('the client compacts each time a proactive model crosses its point, then gets the next steps', async () => {
  const { model, home } = await scripted({
    steps: [{ bash: 'echo {{n}}', used: 140_008, grow: 15_000, repeat: 9 }],
    summary: 'The user wants it all.',
    after_compaction: [[{ bash: 'echo again {{n}}', used: 150_008, grow: 20_000, repeat: 9 }], ['The third.']],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result?.result).toBe('The third.')
  expect(model.log().map((e) => e.kind)).toEqual([
    'main',
    'main',
    'main',
    'compaction',
    'main',
    'main',
    'compaction',
    'main',
  ])
  expect(figures(main(model)).slice(0, 5)).toEqual([140_008, 155_008, 170_008, 150_008, 170_008])
  expect(main(model).map((e) => `${e.cycle}.${e.step}`)).toEqual(['0.0', '0.1', '0.2', '1.0', '1.1', '2.0'])
  expect(countOccurrences(main(model)[3]!, 'The user wants it all.')).toBe(1)
})

test('the client compacts after a reactive model refused a request, and the figures climb again', async () => {
  const { model, home } = await scripted({
    maximum: 200_000,
    steps: [{ bash: 'echo {{n}}', used: 180_008, grow: 15_000, repeat: 9 }],
    after_compaction: [{ bash: 'echo again', used: 30_008 }, 'Done.'],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-sonnet-4-5' })
  expect(run.result?.result).toBe('Done.')
  const kinds = model.log().map((e) => `${e.kind} ${e.answer?.status}`)
  expect(kinds).toEqual(['main 200', 'main 200', 'main 400', 'compaction 200', 'main 200', 'main 200'])
  expect(figures(given(main(model)))).toEqual([180_008, 195_008, 30_008, 31_008])
})

test('the client retries a request that failed in any way and gets the same step', async () => {
  const { model, home } = await scripted({
    steps: [
      { bash: 'echo 1', used: 50_008, fail: { kind: 429, times: 2, retry_after: 0 } },
      { bash: 'echo 2', used: 51_008, fail: { kind: 500, retry_after: 0 } },
      { bash: 'echo 3', used: 52_008, fail: { kind: 529, retry_after: 0 } },
      { bash: 'echo 4', used: 53_008, fail: 'drop' },
      { bash: 'echo 5', used: 54_008, fail: 'drop-midstream' },
      { text: 'Done.', used: 55_008, fail: 'stream-error' },
    ],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result?.result).toBe('Done.')
  expect(figures(given(model.log()))).toEqual([50_008, 51_008, 52_008, 53_008, 54_008, 55_008])
  const failed = model.log().flatMap(({ answer }) => answer?.fail ?? [])
  expect(failed).toEqual(['429', '429', '500', '529', 'drop', 'drop-midstream', 'stream-error'])
})

test('scripted steps continue over turns and a manual compaction, and restart after a clear', async () => {
  const { model, home } = await scripted({
    steps: [{ bash: 'echo 1', used: 50_008 }, 'First turn.', 'Second turn.'],
    after_compaction: [{ bash: 'echo 2', used: 20_008 }, 'Third turn.', 'Fourth turn.'],
  })
  const tui = await startTui(home, { model: 'claude-opus-4-6' })
  const turns: string[] = []
  for (const prompt of ['one', 'two', '/compact keep the names', 'three', 'four', '/clear', 'five']) {
    await tui.submit(prompt)
    await tui.waitIdle()
    turns.push(main(model).at(-1)!.answer!.text)
  }
  expect(turns).toEqual([
    'First turn.',
    'Second turn.',
    'Second turn.',
    'Third turn.',
    'Fourth turn.',
    'Fourth turn.',
    'First turn.',
  ])
  expect(countOccurrences(model.log().find((e) => e.kind === 'compaction')!, 'keep the names')).toBe(1)
})

test('a compaction before a prompt keeps the last answer, which counts for the old cycle', async () => {
  const { model, home } = await scripted({
    steps: [
      { bash: 'echo 1', used: 150_008 },
      { text: 'First turn.', used: 170_008 },
    ],
    after_compaction: [{ bash: 'echo 2', used: 30_008 }, 'Second turn.', 'Third turn.'],
  })
  const run = startPrint(home, { model: 'claude-opus-4-6', stdin: 'open' })
  const results = () => run.messages.filter((m) => m.type === 'result').map((m) => m.result)
  for (const [i, content] of ['one', 'two', 'three'].entries()) {
    run.send({ type: 'user', message: { role: 'user', content } })
    await until(`result ${i + 1}`, () => results().length > i)
  }
  run.endInput()
  await run.done
  expect(results()).toEqual(['First turn.', 'Second turn.', 'Third turn.'])
  expect(model.log().map((e) => `${e.kind} ${e.cycle}.${e.step}`)).toEqual([
    'main 0.0',
    'main 0.1',
    'compaction 0.null',
    'main 1.0',
    'main 1.1',
    'main 1.2',
  ])
})

test('a resumed and a forked session continue at the script position of their conversation', async () => {
  const { model, home } = await scripted({
    steps: [{ bash: 'echo 1' }, 'First.', { bash: 'echo 2' }, 'Second.', 'Third.'],
  })
  const first = await runPrint(home, { prompt: 'go', model: 'claude-opus-5-5' })
  const resumed = await runPrint(home, { prompt: 'on', model: 'claude-opus-5-5', args: ['--resume', first.sessionId!] })
  const forked = await runPrint(home, {
    prompt: 'on',
    model: 'claude-opus-5-5',
    args: ['--resume', first.sessionId!, '--fork-session'],
  })
  expect([first, resumed, forked].map((r) => r.result?.result)).toEqual(['First.', 'Second.', 'Third.'])
  expect(forked.sessionId).not.toBe(first.sessionId)
  expect(model.log()).toHaveLength(5)
})

test('simultaneous subagents, in the background too, each get their own answers', async () => {
  const { model, home } = await scripted({
    steps: [
      { agent: ['count alpha', { prompt: 'count beta', type: 'Explore' }], used: 40_008 },
      { agent: { prompt: 'count gamma', background: true } },
      'Waiting.',
      'Done.',
    ],
    subagents: [
      { when: 'alpha', steps: [{ bash: 'ls', used: 11_008, repeat: 3 }, 'Alpha is 1.'] },
      { when: 'beta', steps: [{ bash: 'pwd', used: 12_008, repeat: 2 }, 'Beta is 2.'] },
      { when: 'gamma', steps: [{ text: 'Gamma is 3.', used: 13_008, hold: 'gamma' }] },
    ],
  })
  const running = startPrint(home, { prompt: 'go', model: 'claude-opus-5-5' })
  await until('the parent waits for the one in the background', () =>
    given(main(model)).some((e) => e.answer?.text === 'Waiting.'),
  )
  model.release('gamma')
  const run = await running.done
  expect(run.result?.result).toBe('Done.')
  const last = main(model).at(-1)!
  for (const text of ['Alpha is 1.', 'Beta is 2.', 'Gamma is 3.'])
    expect(countOccurrences(last, text)).toBeGreaterThan(0)
  const sub = model.log().filter((e) => e.kind === 'subagent')
  expect(new Set(sub.map((e) => e.agent_id)).size).toBe(3)
  expect(figures(sub).sort()).toEqual([11_008, 11_008, 11_008, 12_008, 12_008, 12_008, 13_008, 13_008])
})

test('a request for the session’s title consumes no step', async () => {
  const { model, home } = await scripted({ steps: ['First.', 'Second.'], side: 'scripted-name' })
  const tui = await startTui(home, { model: 'claude-opus-5-5' })
  await tui.submit('go')
  await tui.waitIdle()
  await tui.submit('/rename')
  await model.waitFor((e) => e.kind === 'side')
  await tui.waitFor(/scripted-name/)
  await tui.submit('on')
  await tui.waitFor(/Second\./)
  expect(main(model).map((e) => e.step)).toEqual([0, 1])
})

test('a context the API refuses even after compaction ends the turn', async () => {
  const { model, home } = await scripted({
    steps: [{ bash: 'echo 1' }, { text: 'Never.', fail: 'too-long' }],
    after_compaction: [{ text: 'Never.', fail: 'too-long' }],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-sonnet-4-5' })
  expect(run.result).toMatchObject({ is_error: true, terminal_reason: 'prompt_too_long' })
  expect(model.log().filter((e) => e.kind === 'compaction').length).toBeGreaterThan(0)
})

test('the example script of the documentation behaves as documented', async () => {
  const page = readFileSync(path.join(REPOSITORY, 'docs', 'reference', 'scripted-model.md'), 'utf8')
  const { model, home } = await scripted(
    parseScript(/```json\n([\s\S]*?)```/.exec(page)![1]!, 'docs/reference/scripted-model.md') as ScriptInput,
  )
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result?.result).toBe('Done again.')
  expect(figures(main(model)).slice(-4)).toEqual([155_008, 170_008, 30_008, 31_008])
})
