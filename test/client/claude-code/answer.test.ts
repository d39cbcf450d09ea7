import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claudeCode } from '../../../src/agents/claude-code/claude-code.js'
import { countOccurrences } from '../../../src/model/log.js'
import { type Model, startModel } from '../../../src/model/model.js'
import type { ScriptInput } from '../../../src/model/script.js'
import { type Home, makeHome } from '../../harness/home.js'
import { runPrint } from '../../harness/run-print.js'
import { startTui } from '../../harness/tui.js'
import { until } from '../../harness/wait.js'

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Stop',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
  'SessionEnd',
]

/** Makes every hook of the home print the adapter's answer with the name of its event. */
async function stage(script: ScriptInput): Promise<{ home: Home; model: Model }> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const hook = (event: string) => {
    const file = path.join(home.dir, `${event}.json`)
    writeFileSync(
      file,
      claudeCode.answer(event, { agent: `[baton] for the agent at ${event}.`, user: `for the user at ${event}.` }),
    )
    return [{ hooks: [{ type: 'command', command: `cat > /dev/null; cat ${file}` }] }]
  }
  home.settings({ hooks: Object.fromEntries(EVENTS.map((event) => [event, hook(event)])) })
  return { home, model }
}

const CLIMB: ScriptInput = {
  steps: [{ bash: 'echo a', used: 50_008 }, { bash: 'false', used: 60_008 }, 'Done.'],
  after_compaction: ['Done again.'],
}

test('in print mode every hook answer that can reach the agent does, and none makes the agent continue', async () => {
  const { home, model } = await stage(CLIMB)
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.code).toBe(0)
  const requests = model.log().filter(({ kind }) => kind === 'main')
  expect(requests).toHaveLength(3)
  const heard = EVENTS.filter((event) => countOccurrences(requests.at(-1)!, `[baton] for the agent at ${event}.`) > 0)
  expect(heard).toEqual(EVENTS.filter((event) => claudeCode.carries(event).agent))
  expect(countOccurrences(requests.at(-1)!, '[baton] for the agent at SessionStart.')).toBe(1)
})

test('the transcript contains the hook answers that the agent received', async () => {
  const { home } = await stage(CLIMB)
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  const transcript = path.join(
    home.configDir,
    'projects',
    home.project.replace(/[^a-zA-Z0-9]/g, '-'),
    `${run.sessionId}.jsonl`,
  )
  for (const event of EVENTS) {
    expect([event, claudeCode.transcriptContains(transcript, `[baton] for the agent at ${event}.`)]).toEqual([
      event,
      claudeCode.carries(event).agent,
    ])
  }
})

test('the terminal shows the user every part of a hook answer that is meant for the user', async () => {
  const { home } = await stage(CLIMB)
  const tui = await startTui(home, { model: 'claude-opus-4-6', rows: 200 })
  await tui.submit('go')
  await tui.waitFor(/for the user at Stop/)
  await tui.submit('/compact')
  await tui.waitFor(/Compacted|compacted/)
  const wanted = EVENTS.filter((event) => claudeCode.carries(event).user)
  let shown: string[] = []
  await until(
    () => `shown so far: ${shown}`,
    async () => {
      const screen = await tui.screen(true)
      shown = EVENTS.filter((event) => screen.includes(`for the user at ${event}.`))
      return wanted.every((event) => shown.includes(event))
    },
  )
  expect(shown).toEqual(wanted)
})
