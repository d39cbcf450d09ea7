import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processInfo } from '../../lib/process-info.js'
import { createTestHome, sendReading, type TestHome } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

const prompt = (text: string): string =>
  `${JSON.stringify({
    type: 'user',
    uuid: 'u',
    isSidechain: false,
    timestamp: '2026-03-01T10:00:00.000Z',
    message: { role: 'user', content: text },
  })}\n`

/** Creates a session that Baton knows, with a transcript in its project. */
function session(fixture: TestHome, text: string): string {
  const path = join(fixture.project, `${A}.jsonl`)
  writeFileSync(path, text, { flag: 'a' })
  fixture.fill((app) => {
    if (!app.store.session(A)) sendReading(app, { session: A, project: fixture.project })
    const record = app.store.session(A)!
    app.store.transaction(() => app.store.putSession({ ...record, transcriptPath: path }))
  })
  return path
}

async function kept(): Promise<{ fixture: TestHome; id: string; transcript: string }> {
  const fixture = createTestHome()
  const filler = Array.from({ length: 300 }, (_, n) => prompt(`filler ${n} ${'lorem ipsum '.repeat(10)}`)).join('')
  const transcript = session(fixture, prompt('the albatross flies') + filler)
  const ran = await fixture.run(['archive', 'keep', A, '--json'], { built: true })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return { fixture, id: ran.json.archive_id, transcript }
}

describe('baton archive search', () => {
  test('archive search gives right results at once when its index was deleted or damaged, and logs it', async () => {
    const { fixture } = await kept()
    const index = join(fixture.env.BATON_HOME!, 'archive-index.db')
    const search = async () => (await fixture.run(['archive', 'search', 'albatross'], { built: true })).stdout
    rmSync(index)
    expect(await search()).toContain('the albatross flies')
    writeFileSync(index, readFileSync(index).fill(0, 8_192))
    for (const end of ['-wal', '-shm']) expect(existsSync(index + end)).toBe(false)
    expect(await search()).toContain('the albatross flies')
    expect(readFileSync(join(fixture.env.BATON_HOME!, 'baton.log'), 'utf8')).toMatch(/archive index is damaged/)
  })
})

describe('baton archive restore', () => {
  test('archive restore says what is wrong with its target file', async () => {
    const { fixture, id, transcript } = await kept()
    const restore = (to: string) => fixture.run(['archive', 'restore', id, '--to', to])
    expect(await restore('new/')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/new\/ names a folder[\s\S]*new\/transcript/),
    })
    expect(existsSync(join(fixture.project, 'new'))).toBe(false)
    expect(await restore(join(transcript, 'x'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${transcript} is not a folder`),
    })
    expect(await restore('y'.repeat(240))).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(fixture.project, 'y'.repeat(240))).equals(readFileSync(transcript))).toBe(true)
  })
})

describe('baton archive forget', () => {
  test('archive forget says that other archives share the bytes only if that is why nothing was freed', async () => {
    const { fixture, id, transcript } = await kept()
    await fixture.run(['archive', 'keep', A])
    const shared = await fixture.run(['archive', 'forget', id])
    expect(shared.stdout.replaceAll('\n', ' ')).toContain(
      'because other archives of the same sessions use the same bytes',
    )
    await fixture.run(['archive', 'forget', A])
    rmSync(transcript)
    const failed = await fixture.run(['archive', 'keep', A])
    expect(failed.code).toBe(1)
    const forgot = await fixture.run(['archive', 'forget', A])
    expect(forgot.stdout).toContain('Deleted 1 archive. This freed 0 B')
    expect(forgot.stdout).not.toContain('because')
  })
})

describe('baton archive keep', () => {
  test('archive keep waits for a process that works on the session, and says so', async () => {
    const { fixture } = await kept()
    const { pid, startedAt } = processInfo(process.pid)!
    const older = fixture.fill((app) => {
      const { transcriptPath } = app.store.session(A)!
      return app.store.transaction(() => {
        const about = { sessionId: A, agent: 'claude-code', project: fixture.project, trigger: 'auto' } as const
        const planned = app.planArchive({ ...about, transcript: transcriptPath })!
        app.store.putArchive({ ...planned, lease: { pid, startedAt } })
        return planned.archiveId
      })
    })
    const keeping = fixture.start(['archive', 'keep', A])
    while (!keeping.stderr().includes('Waiting for another process'))
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(keeping.child.exitCode).toBeNull()
    fixture.fill(({ store }) => store.transaction(() => store.putArchive({ ...store.archive(older)!, lease: null })))
    expect(await keeping.done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Archived /) })
    const { archives } = (await fixture.run(['archive', 'list', '--json'])).json
    expect(archives.map(({ status }: { status: string }) => status)).toEqual(['kept', 'kept', 'kept'])
  })
})
