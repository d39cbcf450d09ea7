import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CompactionRecord } from '../../contract/records/compaction.js'
import { factKey } from '../../facts/fact-key.js'
import { createTestHome, sendClientEvent } from '../../testing/cli-home.js'
import { aCompaction } from '../../testing/sample-compaction.js'
import { aFact } from '../../testing/sample-fact.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
const NEVER = aFact('constraint', 'Never touch the migrations', { state: 'forbidden', line: 3 })
const LOST = [NEVER, aFact('todo', 'Write the docs', { line: 9 }), aFact('file', 'src/login.ts', { line: 12 })]

const compaction = (sessionId: string, startedAt: string, change: Partial<CompactionRecord> = {}): CompactionRecord =>
  aCompaction({
    sessionId,
    startedAt,
    loss: { total: 5, kept: 2, byKind: { constraint: { total: 3, kept: 2 }, todo: { total: 1, kept: 0 } }, lost: LOST },
    first: { at: startedAt, keys: [factKey(NEVER)] },
    ...change,
  })

/** Creates two seats; the one of session B was compacted later. */
function compacted() {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendClientEvent(app, 'SessionStart', A, fixture.project, { source: 'startup' }, { BATON_SEAT: 'api' })
    sendClientEvent(app, 'SessionStart', B, fixture.project, { source: 'startup' }, { BATON_SEAT: 'web' })
    app.store.putCompaction(compaction(A, '2026-03-01T10:00:00.000Z'))
    app.store.putCompaction(
      compaction(B, '2026-03-01T11:00:00.000Z', { loss: { total: 4, kept: 4, byKind: {}, lost: [] } }),
    )
  })
  return fixture
}

test('recall --lost lists the facts that the last compaction dropped and marks the restored ones', async () => {
  const { code, stdout } = await compacted().run(['recall', '--lost', '--session', 'api'])
  expect(code).toBe(0)
  expect(stdout).toBe(`Session aaaaaaaa compacted at 2026-03-01 10:00:00 +00:00
▰▰▰▰▱▱▱▱▱▱ facts kept 2 of 5
constraint 2/3 · todo 0/1

constraint  Never touch the migrations ↩
todo        Write the docs
file        src/login.ts

↩ Baton put the fact back into the conversation
`)
})

test('recall --lost keeps only facts with all given words, and --limit only the first few', async () => {
  const fixture = compacted()
  const named = (await fixture.run(['recall', '--lost', 'MIGRATIONS', 'never', '--session', A, '--json'])).json
  expect(named.hits).toEqual([
    {
      archive_id: 'a1',
      line: 3,
      kind: 'constraint',
      text: 'Never touch the migrations',
      state: 'forbidden',
      put_back: true,
    },
  ])
  expect((await fixture.run(['recall', '--lost', '--limit', '1', '--session', A])).stdout).toContain('and 2 more')
  expect((await fixture.run(['recall', '--lost', 'zebra', '--session', A])).stdout).toContain(
    'No lost fact contains all these words.',
  )
})

test('recall --lost shows an agent its own seat, and a user the newest compaction anywhere', async () => {
  const fixture = compacted()
  const own = await fixture.run(['recall', '--lost', '--json'], { env: { CLAUDE_CODE_SESSION_ID: A } })
  expect(own.json).toMatchObject({ session_id: A, scope: 'seat', facts: 5, facts_kept: 2 })
  expect((await fixture.run(['recall', '--lost', '--json'])).json).toMatchObject({
    session_id: B,
    scope: 'all',
    hits: [],
  })
  expect((await fixture.run(['recall', '--lost'])).stdout).toContain('No facts were lost.')
})

test('recall --lost names a later compaction that has no report', async () => {
  const fixture = compacted()
  fixture.fill((app) => app.store.putCompaction(compaction(A, '2026-03-01T12:00:00.000Z', { loss: null, facts: null })))
  const { stdout } = await fixture.run(['recall', '--lost', '--session', A])
  expect(stdout).toMatch(/^The compaction at 2026-03-01 12:00:00 \+00:00 has no loss report yet: /)
  expect(stdout).toContain('Never touch the migrations')
})

test('recall has its own sentence for no compaction, an unknown name and a missing query', async () => {
  const fixture = createTestHome()
  expect(await fixture.run(['recall', '--lost'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^No compaction is recorded/),
  })
  expect((await fixture.run(['recall', '--lost', '--json'])).json).toMatchObject({
    compaction_started_at: null,
    facts: null,
    hits: [],
  })
  expect(await fixture.run(['recall', '--lost', '--session', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
  expect(await fixture.run(['recall'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('baton recall --lost'),
  })
})

test('recall answers a question in plain words, between the entries around the answer', async () => {
  const fixture = createTestHome()
  const lines = ['Where do the nightly jobs run?', 'On host quokka.', 'Thanks.'].map((content) =>
    JSON.stringify({ type: 'user', cwd: fixture.project, message: { role: 'user', content } }),
  )
  const transcript_path = fixture.put(join(fixture.project, `${A}.jsonl`), `${lines.join('\n')}\n`)
  fixture.fill((app) =>
    sendClientEvent(app, 'SessionStart', A, fixture.project, { source: 'startup', transcript_path }),
  )
  await fixture.run(['archive', 'keep', A])
  const { stdout } = await fixture.run(['recall', 'On which host is the database of the nightly jobs?'])
  expect(stdout).toContain('  Where do the nightly jobs run?\n  ┊ [prompt] On host quokka.\n  ┊ [prompt] Thanks.')
})

test('a search without a letter or digit finds nothing and says why', async () => {
  const fixture = createTestHome()
  const line = { type: 'user', cwd: fixture.project, message: { role: 'user', content: 'say "yes" ***' } }
  const transcript_path = fixture.put(join(fixture.project, `${A}.jsonl`), `${JSON.stringify(line)}\n`)
  fixture.fill((app) =>
    sendClientEvent(app, 'SessionStart', A, fixture.project, { source: 'startup', transcript_path }),
  )
  await fixture.run(['archive', 'keep', A])
  for (const command of [['archive', 'search'], ['recall']])
    for (const query of ['"', '***', '""'])
      expect(await fixture.run([...command, query]), query).toMatchObject({
        code: 0,
        stdout: `No hits: ${query} contains no letter or digit, and only words are searched.\n`,
      })
  expect((await fixture.run(['recall', '"', '--json'])).json).toMatchObject({ hits: [] })
  expect((await fixture.run(['recall', '"yes'])).stdout).toContain('say "yes"')
})
