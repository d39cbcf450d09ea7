import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { mainRequests } from '../harness/stage.js'
import { climb, jobStage, upTo } from './job-stage.js'

/** Tests of a long job that every runtime with a real client must pass. */
export function climbCases(runtime: 'cli' | 'sdk'): void {
  // `npm run soak -- jobs-climb` covers the 1M window, through both runtimes too.
  test('a job of twenty-two steps of 15,000 tokens does each step once without a compaction', async () => {
    const it = await jobStage(climb({ steps: 22, grow: 15_000 }))
    const task = 'Do all steps.'
    const flags = [
      '--model',
      'claude-opus-4-6',
      '--permission-mode',
      'bypassPermissions',
      '--runtime',
      runtime,
      '--json',
      '--max-handoffs',
      '5',
    ]
    const { code, stdout, stderr } = await it.baton('run', '--prompt', task, ...flags)
    const job = JSON.parse(stdout || '{}')
    expect({ code, stderr, ...job }).toMatchObject({
      code: 0,
      status: 'completed',
      exit_reason: 'success',
      compactions: 0,
    })
    expect(it.steps()).toEqual(upTo(22))
    expect(job.sessions).toHaveLength(Math.ceil(23 / 10))
    expect(job.handoffs).toBe(job.sessions.length - 1)

    const firsts = it.firsts()
    expect(firsts.map(({ sessionId }) => sessionId)).toEqual(
      job.sessions.map((one: { session_id: string }) => one.session_id),
    )
    for (const { text } of firsts) expect(text).toContain(task)
    for (const { text } of firsts.slice(1))
      for (const part of ['All steps, each once', 'Branch main']) expect(text).toContain(part)
    expect(mainRequests(it.model).filter((entry) => countOccurrences(entry, 'These calls were made') > 0)).toEqual([])
    // Each handoff costs one more request, for the brief.
    expect(mainRequests(it.model)).toHaveLength(23 + job.handoffs)
    expect(it.model.log().filter(({ kind }) => kind === 'compaction')).toEqual([])
    expect(it.running()).toEqual([])

    const shown = JSON.parse((await it.baton('show', job.job_id, '--json')).stdout)
    expect(shown).toMatchObject({
      seat_id: job.seat_id,
      session_id: job.session_id,
      state: 'ended',
      handoffs: job.handoffs,
    })
    const { stdout: lines } = await it.baton('events', '--json')
    const warnings = lines
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { type: string; data: Record<string, number | null> })
      .filter(({ type }) => type === 'context_warning')
    expect(warnings.length).toBeGreaterThan(0)
    for (const { data } of warnings)
      expect(data).toMatchObject({ inputTokens: 8, cacheTokens: Number(data.usedTokens) - 8 })
    expect(shown.chain).toHaveLength(job.sessions.length)
    expect(shown.used_tokens).toBeGreaterThan(20_000)
    expect(shown.briefs.map((brief: { status: string }) => brief.status)).toEqual(firsts.slice(1).map(() => 'used'))
  })
}
