import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processInfo } from '../../lib/process-info.js'
import { newTrial, type Trial, tell } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

const prompt = (text: string): string =>
  `${JSON.stringify({ type: 'user', uuid: 'u', isSidechain: false, timestamp: '2026-03-01T10:00:00.000Z', message: { role: 'user', content: text } })}\n`

/** Creates a session that Baton knows, with a transcript in its project. */
function session(trial: Trial, text: string): string {
  const path = join(trial.project, `${A}.jsonl`)
  writeFileSync(path, text, { flag: 'a' })
  trial.fill((app) => {
    if (!app.store.session(A)) tell(app, { session: A, project: trial.project })
    const record = app.store.session(A)!
    app.store.transaction(() => app.store.putSession({ ...record, transcriptPath: path }))
  })
  return path
}

async function kept(): Promise<{ trial: Trial; id: string; transcript: string }> {
  const trial = newTrial()
  const filler = Array.from({ length: 300 }, (_, n) => prompt(`filler ${n} ${'lorem ipsum '.repeat(10)}`)).join('')
  const transcript = session(trial, prompt('the albatross flies') + filler)
  const ran = await trial.run(['archive', 'keep', A, '--json'], { built: true })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return { trial, id: ran.json.archive_id, transcript }
}

describe('baton archive search', () => {
  test('archive search gives right results at once when its index was deleted or damaged, and logs it', async () => {
    const { trial } = await kept()
    const index = join(trial.env.BATON_HOME!, 'archive-index.db')
    const search = async () => (await trial.run(['archive', 'search', 'albatross'], { built: true })).stdout
    rmSync(index)
    expect(await search()).toContain('the albatross flies')
    writeFileSync(index, readFileSync(index).fill(0, 8_192))
    for (const end of ['-wal', '-shm']) expect(existsSync(index + end)).toBe(false)
    expect(await search()).toContain('the albatross flies')
    expect(readFileSync(join(trial.env.BATON_HOME!, 'baton.log'), 'utf8')).toContain('is damaged and is made again')
  })
})

describe('baton archive restore', () => {
  test('archive restore says what is wrong with its target file', async () => {
    const { trial, id, transcript } = await kept()
    const restore = (to: string) => trial.run(['archive', 'restore', id, '--to', to])
    expect(await restore('new/')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/new\/ names a folder[\s\S]*new\/transcript/),
    })
    expect(existsSync(join(trial.project, 'new'))).toBe(false)
    expect(await restore(join(transcript, 'x'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no folder'),
    })
    expect(await restore('y'.repeat(240))).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(trial.project, 'y'.repeat(240))).equals(readFileSync(transcript))).toBe(true)
  })
})

describe('baton archive forget', () => {
  test('archive forget says that other archives share the bytes only if that is why nothing was freed', async () => {
    const { trial, id, transcript } = await kept()
    await trial.run(['archive', 'keep', A])
    const shared = await trial.run(['archive', 'forget', id])
    expect(shared.stdout.replaceAll('\n', ' ')).toContain(
      'because other archives of the same sessions hold the same bytes',
    )
    await trial.run(['archive', 'forget', A])
    rmSync(transcript)
    const failed = await trial.run(['archive', 'keep', A])
    expect(failed.code).toBe(1)
    const forgot = await trial.run(['archive', 'forget', A])
    expect(forgot.stdout).toContain('Forgot 1 archive; freed 0 B')
    expect(forgot.stdout).not.toContain('because')
  })
})

describe('baton archive keep', () => {
  test('archive keep waits for a process that works on the session, and says so', async () => {
    const { trial } = await kept()
    const { pid, startedAt } = processInfo(process.pid)!
    const older = trial.fill((app) => {
      const { transcriptPath } = app.store.session(A)!
      return app.store.transaction(() => {
        const about = { sessionId: A, agent: 'claude-code', project: trial.project, trigger: 'auto' } as const
        const planned = app.planArchive({ ...about, transcript: transcriptPath })!
        app.store.putArchive({ ...planned, lease: { pid, startedAt } })
        return planned.archiveId
      })
    })
    const keeping = trial.start(['archive', 'keep', A])
    while (!keeping.stderr().includes('waiting for it')) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(keeping.child.exitCode).toBeNull()
    trial.fill(({ store }) => store.transaction(() => store.putArchive({ ...store.archive(older)!, lease: null })))
    expect(await keeping.done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Kept /) })
    const { archives } = (await trial.run(['archive', 'list', '--json'])).json
    expect(archives.map(({ status }: { status: string }) => status)).toEqual(['kept', 'kept', 'kept'])
  })
})
