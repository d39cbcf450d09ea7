import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { visibleTexts } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { FIRST } from '../harness/compactions.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'
const PROMPT = 'Fix the login. Never touch the file legacy/auth.ts, and keep the public API as it is.'

const CLIMB: ScriptInput = {
  steps: [
    { bash: 'echo a > made.txt', used: 100_008 },
    { bash: 'git status --short', used: 150_008 },
    { bash: 'echo c', used: 169_008 },
    'Never said.',
  ],
  summary: 'The user wants the login fixed.',
  after_compaction: [
    { bash: 'echo d', used: 30_008 },
    { bash: 'echo e', used: 31_008 },
    { text: 'Done.', used: 33_008 },
  ],
}

interface Brief {
  brief_id: string
  author: string
  status: string
  reason: string | null
  path: string
}

const briefs = async (it: Stage): Promise<Brief[]> =>
  (await it.ask<{ briefs: Brief[] }>('handoffs', 'list', '--all')).briefs

/** Returns the text of the first request after the compaction. */
function nextRequest(it: Stage): string {
  const log = it.model.log()
  const at = log.findIndex(({ kind }) => kind === 'compaction')
  return visibleTexts(mainRequests(it.model).find((entry) => log.indexOf(entry) > at)!).join('\n')
}

test('the first request after a compaction contains the brief that was written before it', async () => {
  const it = await stage(CLIMB, { mod: false, server: false })
  const run = await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  expect(run.result).toMatchObject({ result: 'Done.' })
  await until('a brief is kept', async () => (await briefs(it)).length > 0)
  const before = (await briefs(it)).find(({ status }) => status === 'written' || status === 'superseded')!
  const [told] = nextRequest(it).split(FIRST).slice(1)
  expect(told).toContain('Never touch the file legacy/auth.ts')
  const named = (await briefs(it)).find(({ path }) => told!.includes(path))!
  expect(named).toMatchObject({ author: 'baton', reason: expect.stringContaining('compaction') })
  const text = readFileSync(named.path, 'utf8')
  expect(text).toContain(`> ${PROMPT}`)
  expect(text).toContain(named.reason)
  expect(before).toMatchObject({ author: 'baton' })
  const [session] = (
    await it.ask<{ sessions: { session_id: string; last_handoff_path: string | null }[] }>('status', '--all')
  ).sessions
  expect(session!.last_handoff_path).toBeNull()
  const shown = await it.ask<{ briefs: Brief[] }>('show', session!.session_id)
  expect(shown.briefs.map(({ brief_id }) => brief_id)).toContain(before.brief_id)
})
