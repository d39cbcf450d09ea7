import { expect, test, vi } from 'vitest'
import { copies } from '../../src/model/log.js'
import { climb, jobStage, upTo } from './job-stage.js'
import { mainRequests } from './stage.js'

vi.setConfig({ testTimeout: 180_000 })

/** What a long job does through every runtime with a client of its own. */
export function climbCases(runtime: 'cli' | 'sdk'): void {
  // With a window of a million through both: npm run soak -- jobs-climb.
  const large = runtime === 'cli' ? [['claude-opus-4-8', 40_000, 23] as const] : []
  test.each([['claude-opus-4-6', 15_000, 10] as const, ['claude-sonnet-4-5', 15_000, 10] as const, ...large])(
    'forty steps on %s, each of %d tokens: each once, over sessions that begin with the task and the brief, without a compaction',
    async (model, grow, each) => {
      const it = await jobStage(climb({ steps: 40, grow }))
      const task = 'Do all steps.'
      const flags = ['--model', model, '--permission-mode', 'bypassPermissions', '--runtime', runtime, '--json']
      const { code, stdout, stderr } = await it.baton('run', '--prompt', task, ...flags)
      const job = JSON.parse(stdout || '{}')
      expect({ code, stderr, ...job }).toMatchObject({ code: 0, status: 'completed', exit_reason: 'success', compactions: 0 })
      expect(it.steps()).toEqual(upTo(40))
      expect(job.sessions).toHaveLength(Math.ceil(40 / each))
      expect(job.handoffs).toBe(job.sessions.length - 1)

      const firsts = it.firsts()
      expect(firsts.map(({ sessionId }) => sessionId)).toEqual(job.sessions.map((one: { session_id: string }) => one.session_id))
      for (const { text } of firsts) expect(text).toContain(task)
      for (const { text } of firsts.slice(1))
        for (const part of ['All steps, each once', 'Branch main']) expect(text).toContain(part)
      expect(mainRequests(it.model).filter((entry) => copies(entry, 'These calls were made') > 0)).toEqual([])
      // One request more for each handoff: the brief.
      expect(mainRequests(it.model)).toHaveLength(41 + job.handoffs)
      expect(it.model.log().filter(({ kind }) => kind === 'compaction')).toEqual([])
      expect(it.left()).toEqual([])

      const shown = JSON.parse((await it.baton('show', job.job_id, '--json')).stdout)
      expect(shown).toMatchObject({ seat_id: job.seat_id, session_id: job.session_id, state: 'ended', handoffs: job.handoffs })
      expect(shown.chain).toHaveLength(job.sessions.length)
      expect(shown.used_tokens).toBeGreaterThan(20_000)
      expect(shown.briefs.map((brief: { status: string }) => brief.status)).toEqual(firsts.slice(1).map(() => 'used'))
    },
  )
}
