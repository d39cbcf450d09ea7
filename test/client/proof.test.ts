import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createTestHome } from '../../src/testing/cli-home.js'

test('planted facts reach the reader over two handoffs and two compactions, and are lost without Baton', async () => {
  const fixture = createTestHome()
  const { code, json, stderr } = await fixture.run(
    ['proof', '--planted', '--generations', '2', '--replicates', '1', '--json'],
    { env: { TMPDIR: fixture.dir } },
  )
  const { arms, ...report } = json
  expect(report).toMatchObject({ ok: true, compactions: 4, handoffs: 2, skipped: [], mismatches: [] })
  expect(report.hostile).toEqual({ requests: 6, repeated: 0 })
  expect(arms.map(({ name, needed }: { name: string; needed: object }) => [name, needed])).toEqual([
    ['handoff', { kept: 8, of: 8 }],
    ['compaction and recovery', { kept: 8, of: 8 }],
    ['compaction without Baton', { kept: 0, of: 8 }],
  ])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(readdirSync(fixture.dir).filter((name) => name.startsWith('baton-demo-'))).toEqual([])
})
