import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { newTrial } from '../trial.js'

test('the demo runs the real client to its end, proves every step by the model’s log, and leaves nothing behind', async () => {
  const trial = newTrial()
  const { code, json, stderr } = await trial.run(['demo', '--exit', '--json'], { env: { TMPDIR: trial.dir } })
  expect({ code, stderr, missing: json.missing }).toEqual({ code: 0, stderr: '', missing: [] })
  expect(json.archives).toMatchObject([{ status: 'kept', trigger: 'auto' }])
  expect(json.losses).toHaveLength(1)
  expect(json.losses[0].facts_kept).toBeLessThan(json.losses[0].facts)
  expect(json.losses[0].lost).toContainEqual(expect.objectContaining({ kind: 'constraint', state: 'forbidden' }))
  expect(json.recovered[0]).toMatchObject({ step: 1, in_request: 15, copies: 1 })
  expect(readdirSync(trial.dir).filter((name) => name.startsWith('baton-demo-'))).toEqual([])
}, 120_000)
