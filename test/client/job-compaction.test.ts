import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { SUMMARY_INSTRUCTIONS } from '../../src/compaction/recovery.js'
import { visibleTexts } from '../../src/model/log.js'
import { mainRequests } from '../harness/stage.js'
import { jobStage } from './job-stage.js'

const SCRIPT = {
  steps: [
    { bash: 'echo 1 >> steps', used: 60_008 },
    { bash: 'echo 2 >> steps', used: 120_008 },
    { bash: 'claude -p nested --model claude-opus-4-6 > nested.txt; echo 3 >> steps', used: 170_008 },
  ],
  summary: 'Somebody did something.',
  after_compaction: [
    { bash: 'echo 4 >> steps', used: 30_008 },
    { bash: 'echo 5 >> steps', used: 31_008 },
    'All is done.',
  ],
  conversations: [{ when: 'nested', steps: ['I am nested.'] }],
}

const SURVIVE = 'Prices are in cents, never in euros.'

/** Installed hooks report the same events as the runner, which must count them once. */
test('a job that may compact gets must-survive texts and lost facts back, with hooks installed too', async () => {
  const it = await jobStage(SCRIPT)
  mkdirSync(it.home.batonHome, { recursive: true })
  writeFileSync(path.join(it.home.batonHome, 'config.yaml'), `must_survive: [${JSON.stringify(SURVIVE)}]\n`)
  expect(await it.baton('install')).toMatchObject({ code: 0 })
  const flags = [
    '--model',
    'claude-opus-4-6',
    '--permission-mode',
    'bypassPermissions',
    '--max-handoffs',
    '0',
    '--json',
  ]
  const ran = await it.baton('run', '--prompt', 'Mend the parser. Never touch the file secrets.txt.', ...flags)
  const job = JSON.parse(ran.stdout || '{}')
  expect({ code: ran.code, stderr: ran.stderr, ...job }).toMatchObject({
    code: 0,
    status: 'completed',
    compactions: 1,
    handoffs: 0,
  })
  expect(it.steps()).toEqual(['1', '2', '3', '4', '5'])

  const lines = (await it.baton('events', '--json')).stdout.trim().split('\n')
  const events = lines.map((line) => JSON.parse(line)).filter(({ session_id }) => session_id === job.session_id)
  const count = (type: string) => events.filter((event) => event.type === type).length
  expect(
    ['session_started', 'compaction_start', 'compaction_complete', 'loss_report', 'session_ended'].map(count),
  ).toEqual([1, 1, 1, 1, 1])
  expect(events.find(({ type }) => type === 'compaction_complete').data).toMatchObject({ outcome: 'completed' })
  expect(events.every(({ job_id, seat_id }) => job_id === job.job_id && seat_id === job.seat_id)).toBe(true)
  const used = events.filter(({ type }) => type === 'reading').map(({ data }) => data.used_tokens)
  expect(new Set(used).size).toBe(used.length)
  expect(count('recovery_delivered')).toBeGreaterThan(0)
  const [summary, ...others] = it.model.log().filter(({ kind }) => kind === 'compaction')
  expect(others).toEqual([])
  const asked = visibleTexts(summary!).join('\n')
  const instructed = asked.split(/Additional Instructions:\s+/).slice(1)
  expect(instructed.filter((part) => part.startsWith(SUMMARY_INSTRUCTIONS))).toHaveLength(1)
  const told = asked.slice(asked.indexOf('Additional Instructions:'))
  for (const part of [SURVIVE, 'Never touch the file secrets.txt']) expect(told).toContain(part)
  const after = mainRequests(it.model, job.session_id).filter(({ cycle }) => cycle === 1)
  expect(after.flatMap(visibleTexts).join('\n')).toMatch(/\[baton\][\s\S]*secrets\.txt/)
  expect(JSON.stringify(after.map(({ body }) => body))).not.toContain(SUMMARY_INSTRUCTIONS)

  const shown = JSON.parse((await it.baton('show', job.job_id, '--json')).stdout)
  expect(shown).toMatchObject({
    session_id: job.session_id,
    compactions: 1,
    transcript_path: expect.stringContaining(job.session_id),
  })
  expect(shown.chain).toHaveLength(1)
  const { sessions } = JSON.parse((await it.baton('status', '--all', '--json')).stdout)
  const nested = sessions.filter((one: { session_id: string }) => one.session_id !== job.session_id)
  expect(nested).toHaveLength(1)
  for (const one of nested)
    expect(one).toMatchObject({ parent_seat_id: job.seat_id, seat_id: expect.not.stringMatching(job.seat_id) })
})
