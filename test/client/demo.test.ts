import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createTestHome } from '../../src/testing/cli-home.js'

test('the demo runs the real client, proves every step by the model’s log and leaves nothing', async () => {
  const fixture = createTestHome()
  const { code, json, stderr } = await fixture.run(['demo', '--exit', '--json'], { env: { TMPDIR: fixture.dir } })
  expect({ code, stderr, missing: json.missing }).toEqual({ code: 0, stderr: '', missing: [] })
  expect(json.archives).toMatchObject([{ status: 'kept', trigger: 'auto' }])
  expect(json.losses).toHaveLength(1)
  expect(json.losses[0].facts_kept).toBeLessThan(json.losses[0].facts)
  expect(json.losses[0].lost).toContainEqual(expect.objectContaining({ kind: 'constraint', state: 'forbidden' }))
  expect(json.recovered[0]).toMatchObject({ step: 1, in_request: 11, copies: 1 })
  expect(json.handoff).toMatchObject({
    seat: 'offers',
    state: 'done',
    way: 'mod',
    author: 'agent',
    tokens_before: 146_008,
    tokens_after: 21_008,
    brief_in_first_request: true,
    added_in_first_request: true,
    worked_on: true,
    asked_in_request: 4,
    coverage: { missing: [{ kind: 'decision', text: expect.stringContaining('one offer a line') }] },
  })
  expect(json.handoff.coverage.score).toBeGreaterThan(0.8)
  expect(json.handoff.new_session_id).not.toBe(json.handoff.old_session_id)
  expect(json.job).toMatchObject({
    agent: 'clerk',
    status: 'completed',
    handoffs: 2,
    compactions: 0,
    parts: [1, 2, 3, 4, 5, 6],
    failure_in_request: 4,
    sessions: [
      { task_in_first_request: true, brief_in_first_request: false, added_in_first_request: false },
      { task_in_first_request: true, brief_in_first_request: true, added_in_first_request: true },
      { task_in_first_request: true, brief_in_first_request: true, added_in_first_request: true },
    ],
    checks: [
      { name: 'six parts', round: 1, ok: true },
      { name: 'a list of contents', round: 1, ok: false },
      { name: 'six parts', round: 2, ok: true },
      { name: 'a list of contents', round: 2, ok: true },
    ],
  })
  expect(readdirSync(fixture.dir).filter((name) => name.startsWith('baton-demo-'))).toEqual([])
})
