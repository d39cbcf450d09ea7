import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type CompactionNote, readCompactionNote } from '../../../src/agents/claude-code/live-summary.js'
import { summaryText } from '../../../src/agents/claude-code/summary-text.js'
import { type Model, startModel } from '../../../src/model/model.js'
import type { ScriptInput } from '../../../src/model/script.js'
import { type Home, makeHome } from '../../harness/home.js'
import { runPrint, startPrint } from '../../harness/run-print.js'
import { startTui } from '../../harness/tui.js'
import { until } from '../../harness/wait.js'
import { putMod } from './put-mod.js'

const HOOKED = ['SessionStart', 'PreCompact', 'SubagentStop', 'PostCompact']
const HOOKED_ORDER = ['PreCompact', 'SubagentStop', 'SessionStart', 'PostCompact']
const AFTER: ScriptInput['after_compaction'] = [{ bash: 'echo c', used: 30_008 }, 'Done.']

interface HookCall {
  event: string
  body: Record<string, unknown>
  /** Note that the plugin module had written when the hook ran. */
  note: string | null
}

interface Stage {
  home: Home
  model: Model
  /** Hook calls from the start of the compaction on, in order. */
  hookCalls(): HookCall[]
  sessionId(): string
  note(): CompactionNote | null
}

/**
 * Makes every hook record its input and the plugin module's note. The `SessionStart` hook answers
 * with the summary in the note.
 */
async function stage(script: ScriptInput): Promise<Stage> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const liveDir = putMod(home)
  const log = path.join(home.dir, 'hook-calls.jsonl')
  appendFileSync(log, '')
  const recorder = path.join(home.dir, 'recorder.cjs')
  writeFileSync(
    recorder,
    `const { appendFileSync, readFileSync } = require('node:fs')
const body = JSON.parse(readFileSync(0, 'utf8'))
let note = null
try { note = readFileSync(${JSON.stringify(liveDir)} + '/' + body.session_id + '.summary.json', 'utf8') } catch {}
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ event: body.hook_event_name, body, note }) + '\\n')
if (body.source === 'compact' && note !== null) {
  const additionalContext = 'FOUND ' + JSON.parse(note).summary.replace(/\\s+/g, ' ')
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } }))
}
`,
  )
  const hook = { type: 'command', command: `${process.execPath} ${recorder}` }
  home.settings({ hooks: Object.fromEntries(HOOKED.map((event) => [event, [{ hooks: [hook] }]])) })
  const all = (): HookCall[] =>
    readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const sessionId = (): string => String(all()[0]!.body.session_id)
  return {
    home,
    model,
    hookCalls: () => {
      const told = all()
      return told.slice(told.findIndex(({ event }) => event === 'PreCompact'))
    },
    sessionId,
    note: () => readCompactionNote(liveDir, sessionId(), 0),
  }
}

const PROACTIVE: ScriptInput = {
  steps: [{ bash: 'echo a', used: 160_008 }, { bash: 'echo kept-one', used: 169_008 }, 'Never said.'],
  after_compaction: AFTER,
}

const WAYS: [string, string, ScriptInput, (it: Stage) => Promise<unknown>][] = [
  ['by itself', 'auto', PROACTIVE, (it) => runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })],
  [
    'after a refusal',
    'auto',
    {
      steps: [
        { bash: 'echo a', used: 160_008 },
        { bash: 'echo kept-one', used: 191_008 },
        { text: 'Never.', fail: 'too-long' },
      ],
      after_compaction: AFTER,
    },
    (it) => runPrint(it.home, { prompt: 'go', model: 'claude-sonnet-4-5' }),
  ],
  [
    'by hand in print mode',
    'manual',
    { steps: [{ bash: 'echo a' }, 'I say kept-one.'], after_compaction: AFTER },
    byHandInPrint,
  ],
  [
    'by hand in the terminal',
    'manual',
    { steps: [{ bash: 'echo a' }, 'I say kept-one.'], after_compaction: AFTER },
    byHandInTerminal,
  ],
]

async function byHandInPrint({ home }: Stage): Promise<void> {
  const run = startPrint(home, { model: 'claude-opus-4-6', stdin: 'open' })
  const results = () => run.messages.filter(({ type }) => type === 'result').length
  for (const [i, content] of ['go', '/compact', 'go on'].entries()) {
    run.send({ type: 'user', message: { role: 'user', content } })
    await until(`the end of ${content}`, () => results() > i)
  }
  run.endInput()
  await run.done
}

async function byHandInTerminal({ home, model, hookCalls }: Stage): Promise<void> {
  const tui = await startTui(home, { model: 'claude-opus-4-6' })
  await tui.submit('go')
  await tui.waitIdle()
  await tui.submit('/compact')
  await until('the compaction', () => hookCalls().some(({ event }) => event === 'PostCompact'))
  await tui.waitFor(/Compacted/)
  await tui.waitIdle()
  await tui.submit('go on')
  await model.waitFor((entry) => entry.kind === 'main' && entry.cycle === 1 && entry.step === 1)
}

const answered = (model: Model, cycle: number) =>
  model.log().filter((entry) => entry.kind === 'main' && entry.cycle === cycle && entry.answer?.status === 200)
const found = ({ body }: { body: string | null }): string[] => body?.match(/FOUND .*?<\/summary>/g) ?? []
const oneLine = (text: unknown): string => String(text).replace(/\s+/g, ' ')

test.each(WAYS)(
  'compacted %s: SessionStart finds the summary the client tells only afterwards',
  async (_, trigger, script, run) => {
    const it = await stage(script)
    await run(it)

    const [before, summariser, start, end, ...more] = it.hookCalls()
    expect([before, summariser, start, end].map((call) => call?.event)).toEqual(HOOKED_ORDER)
    expect(more).toEqual([])
    expect(start!.body.source).toBe('compact')
    const summary = end!.body.compact_summary
    expect(summary).toMatch(/<summary>/)
    expect(summariser!.body).toMatchObject({ agent_type: '', last_assistant_message: summary })
    expect(before!.note).toBeNull()
    expect(JSON.parse(start!.note!)).toMatchObject({
      session: it.sessionId(),
      trigger,
      summary,
      tokensAfter: null,
      kept: null,
    })

    const after = answered(it.model, 1)
    expect(after.length).toBeGreaterThan(1)
    expect(after.map(found)).toEqual(after.map(() => [`FOUND ${oneLine(summary)}`]))

    const note = it.note()!
    expect(note).toMatchObject({ trigger, summary: summaryText(String(summary)), kept: { whole: true } })
    expect(note.kept!.text).toContain('kept-one')
    expect(note.tokensBefore).toBeGreaterThan(note.tokensAfter!)
  },
)

test('the note of a second compaction has its own summary, not the first one’s', async () => {
  const it = await stage({
    ...PROACTIVE,
    after_compaction: [
      [{ bash: 'echo c', used: 30_008 }, { bash: 'echo d', used: 169_008 }, 'Never said.'],
      [{ bash: 'echo e', used: 40_008 }, 'Done.'],
    ],
  })
  await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
  const ends = it.hookCalls().filter(({ event }) => event === 'PostCompact')
  const starts = it.hookCalls().filter(({ body }) => body.source === 'compact')
  const summaries = ends.map(({ body }) => body.compact_summary)
  expect(new Set(summaries).size).toBe(2)
  expect(starts.map(({ note }) => JSON.parse(note!).summary)).toEqual(summaries)
  expect(answered(it.model, 2).map(found)).toEqual([
    [`FOUND ${oneLine(summaries[1])}`],
    [`FOUND ${oneLine(summaries[1])}`],
  ])
  const [first, second] = starts.map(({ note }) => JSON.parse(note!).at)
  expect(second).toBeGreaterThan(first)
})

test('a summary request whose answer also calls a tool leaves no note before the summary ends', async () => {
  const it = await stage({ ...PROACTIVE, summary: { text: 'So far.', bash: 'echo no' } })
  await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
  const [, start, end] = it.hookCalls()
  expect([start!.event, start!.note, end!.event]).toEqual(['SessionStart', null, 'PostCompact'])
  expect(it.note()).toMatchObject({ summary: summaryText(String(end!.body.compact_summary)), kept: { whole: true } })
})

test('a compaction that another hook blocks leaves no note', async () => {
  const it = await stage(PROACTIVE)
  const hooks = it.home.readSettings().hooks as Record<string, unknown[]>
  const block = { hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }
  it.home.settings({ hooks: { ...hooks, PreCompact: [...hooks.PreCompact!, block] } })
  await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(it.hookCalls()[0]?.event).toBe('PreCompact')
  expect(it.note()).toBeNull()
})
