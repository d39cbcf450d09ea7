import { describe, expect, test } from 'vitest'
import type { JobView } from '../../contract/api/jobs.js'
import type { Event } from '../../contract/records/event.js'
import { viewJob } from '../../jobs/view-job.js'
import { aJob } from '../../testing/sample-job.js'
import type { Call, Cli } from '../command.js'
import { jobResultLines, jobTable, makeJobDisplay } from './job-page.js'
import { plain } from './screen.js'
import { widthOf } from './text.js'

const screen = (columns: number) => ({ terminal: true, columns, rows: 24, paint: plain })
const NOW = new Date('2026-11-16T09:00:00.000Z')
const job = (change: Partial<JobView>): JobView => ({
  ...viewJob(aJob({ jobId: 'job_0123456789abcdef' }), []),
  ...change,
})
const gone = { pid: 4_000_000, alive: false }

describe('the list of jobs', () => {
  test('the list of jobs keeps the title at 60 columns for every state of a job whose process died', () => {
    for (const status of ['pending', 'running', 'handing-off', 'waiting'] as const) {
      const lines = jobTable([job({ status, runner: gone })], screen(60), NOW)
      expect(lines[1]).toContain('process died')
      expect(lines[1]).toContain('Mend the par')
      expect(lines[2]).toContain('baton jobs resume')
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(60)
    }
  })

  test('the list of jobs says that the process of a job died only if no process is about to run it', () => {
    const lately = { status: 'pending' as const, runner: null, created_at: '2026-11-16T08:59:58.000Z' }
    expect(jobTable([job(lately)], screen(80), NOW).join('\n')).not.toContain('died')
    const before = { ...lately, created_at: '2026-11-16T08:59:40.000Z' }
    expect(jobTable([job(before)], screen(80), NOW)[1]).toContain('process died')
    for (const status of ['completed', 'failed', 'cancelled', 'paused'] as const)
      expect(jobTable([job({ status, runner: gone })], screen(80), NOW).join('\n')).not.toContain('died')
  })
})

test('a completed job is never offered for resuming, even if the hooks of its end were cut off', () => {
  expect(jobResultLines(job({ status: 'completed', runner: gone }), screen(80), NOW).join('\n')).not.toContain(
    'baton jobs resume',
  )
  expect(jobResultLines(job({ status: 'running', runner: gone }), screen(80), NOW).join('\n')).toContain(
    'baton jobs resume',
  )
})

test('without a terminal, two batches that were measured by the same answer print one line', () => {
  const printed: string[] = []
  const cli = {
    screen: { ...screen(80), terminal: false },
    print: (text: string) => printed.push(text),
    note() {},
    now: () => NOW,
  } as unknown as Cli
  const call = { json: false, flag: () => false, value: () => null } as unknown as Call
  const { take } = makeJobDisplay(cli, call, [aJob({ jobId: 'job_1' })])
  const progress = (id: number, step: number): Event => ({
    id,
    type: 'job_progress',
    at: NOW.toISOString(),
    session_id: 's1',
    seat_id: 'seat_1',
    job_id: 'job_1',
    data: {
      total_steps: step,
      session: 1,
      handoffs: 0,
      max_handoffs: 3,
      used_tokens: 50_000,
      compaction_tokens: 167_000,
    },
  })
  for (const [id, step] of [1, 2, 2, 3].entries()) take(progress(id, step))
  expect(printed.map((line) => /step \d/.exec(line)?.[0])).toEqual(['step 1', 'step 2', 'step 3'])
})
