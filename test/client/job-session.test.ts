import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { visibleTexts } from '../../src/model/log.js'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { mainRequests } from '../harness/stage.js'
import { trustProject } from '../harness/trust.js'
import { type JobStage, jobStage } from './job-stage.js'

const FLAGS = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions', '--json']

/** Script of one conversation: step and answer of the first job, then of the second. */
const TWO_TASKS = {
  steps: [
    { bash: 'echo 1 >> steps', used: 30_008 },
    'The parser works.',
    { bash: 'echo 2 >> steps', used: 40_008 },
    'The printer works.',
  ],
}

function agent(it: JobStage, session: string): void {
  const text = `agents: [{ name: coder, prompt: Mend the parser., session: ${session} }]\n`
  writeFileSync(path.join(it.home.project, 'baton.yaml'), text)
  trustProject(it.home.env, it.home.project)
}

const run = async (it: JobStage, ...args: string[]) => {
  const { code, stdout, stderr } = await it.baton('run', ...args, ...FLAGS)
  return { code, stderr, job: JSON.parse(stdout.trim().split('\n').at(-1) || '{}') }
}

const last = (it: JobStage): string => visibleTexts(mainRequests(it.model).at(-1)!).join('\n')

test('the next job of a persistent agent continues its session and counts only its own cost', async () => {
  const it = await jobStage(TWO_TASKS)
  agent(it, '{ mode: persistent }')
  const first = await run(it, 'coder')
  expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' })
  const second = await run(it, 'coder', '--prompt', 'Mend the printer.')
  expect({ code: second.code, stderr: second.stderr }).toEqual({ code: 0, stderr: '' })
  expect(second.job).toMatchObject({
    status: 'completed',
    result: 'The printer works.',
    session_id: first.job.session_id,
    seat_id: first.job.seat_id,
    sessions: [{ start: 'resume', steps: 2 }],
  })
  expect(it.steps()).toEqual(['1', '2'])
  for (const part of ['Mend the parser.', 'The parser works.', 'Mend the printer.']) expect(last(it)).toContain(part)
  // The client reports the session's total cost, from which the first job's part is subtracted.
  expect(second.job.spend).toMatchObject({ cache_creation_tokens: 10_000, output_tokens: 100 })
  expect(second.job.spend.cost_usd).toBeLessThan(first.job.spend.cost_usd)
  const shown = JSON.parse((await it.baton('show', second.job.job_id, '--json')).stdout)
  expect(shown).toMatchObject({ session_id: first.job.session_id, state: 'ended' })
  expect(it.running()).toEqual([])
})

test('an expired persistent session is not continued, and the fresh one gets its brief', async () => {
  const it = await jobStage({
    ...TWO_TASKS,
    conversations: [{ when: { seen: 'This is a new job' }, steps: ['The printer works too.'] }],
  })
  agent(it, '{ mode: persistent, timeout: 24h }')
  const first = await run(it, 'coder')
  const store = openStore(path.join(it.home.batonHome, 'baton.db'))
  const job = store.job(first.job.job_id)!
  store.putJob({ ...job, endedAt: new Date(Date.parse(job.endedAt!) - 25 * 3_600_000).toISOString() })
  store.close()
  const second = await run(it, 'coder', '--prompt', 'Mend the printer.')
  expect(second.job).toMatchObject({ status: 'completed', result: 'The printer works too.' })
  expect(second.job.session_id).not.toBe(first.job.session_id)
  expect(second.job.sessions).toMatchObject([{ start: 'brief' }])
  for (const part of ['Mend the printer.', '# The brief', 'Mend the parser.']) expect(last(it)).toContain(part)
})

test('through sdk a job continues the session that it names, and refuses one of another folder', async () => {
  const it = await jobStage(TWO_TASKS)
  const first = await run(it, '--prompt', 'Mend the parser.', '--runtime', 'sdk')
  const id = first.job.session_id
  const other = path.join(it.home.dir, 'other')
  mkdirSync(other)
  const task = ['run', '--prompt', 'Mend the printer.', '--runtime', 'sdk', '--resume-session']
  const elsewhere = await it.start([...task, id], {}, other).done
  expect([elsewhere.code, elsewhere.stderr]).toEqual([4, expect.stringContaining(`it worked in ${it.home.project}`)])
  const unknown = await it.baton(...task, '00000000-0000-4000-8000-000000000000')
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('There is no session')])
  const second = await run(it, ...task.slice(1), id.slice(0, 8))
  expect({ code: second.code, ...second.job }).toMatchObject({
    code: 0,
    session_id: id,
    result: 'The printer works.',
  })
  expect(last(it)).toContain('The parser works.')
  expect(it.steps()).toEqual(['1', '2'])
})
