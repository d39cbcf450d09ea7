import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faultGate } from '../../../test/harness/gate.js'
import { createTestHome, sendClientEvent } from '../../testing/cli-home.js'

const id = (n: number): string => `${String(n).repeat(8)}-ef1f-4334-9716-3be98836406b`

function said(text: string, entrypoint = 'cli'): string {
  const line = { type: 'user', cwd: '/projects/shop', entrypoint, message: { role: 'user', content: text } }
  return `${JSON.stringify(line)}\n`
}

/** Creates transcripts of a client that ran before Baton was installed. */
function withTranscripts(texts: Record<number, string>) {
  const fixture = createTestHome()
  const folder = join(fixture.user, '.claude', 'projects', '-work-shop')
  mkdirSync(folder, { recursive: true })
  const path = (n: number): string => join(folder, `${id(n)}.jsonl`)
  for (const [n, text] of Object.entries(texts)) writeFileSync(path(Number(n)), text)
  const listed = async (): Promise<
    { session_id: string; title: string | null; trigger: string; status: string; project: string }[]
  > => (await fixture.run(['archive', 'list', '--json'])).json.archives
  return { ...fixture, folder, path, listed }
}

test('import archives the transcripts on the disk, and a second import stores nothing again', async () => {
  const fixture = withTranscripts({ 1: said('the heron builds a nest'), 2: said('the stork leaves') })
  expect((await fixture.run(['import', '--json'])).json).toMatchObject({ found: 2, imported: 2, left: 0, failed: [] })
  expect(await fixture.listed()).toMatchObject([
    { trigger: 'import', status: 'kept', project: '/projects/shop' },
    { trigger: 'import', status: 'kept', project: '/projects/shop' },
  ])
  expect((await fixture.run(['recall', 'heron', '--json'])).json.hits).toMatchObject([{ session_id: id(1) }])
  const again = await fixture.run(['import', '--json'])
  expect(again.json).toMatchObject({ found: 0, imported: 0, stored_bytes: 0, left_out: { archived: 2 } })
  expect(await fixture.listed()).toHaveLength(2)
})

test('an imported session has its first request about the work as title', async () => {
  const long = `the heron ${'builds '.repeat(20)}`
  const fixture = withTranscripts({
    1: said('/clear') + said('<local-command-stdout></local-command-stdout>') + said(long) + said('the stork leaves'),
    2: said('[baton] Continue the work from brief 1.'),
  })
  await fixture.run(['import'])
  const titles = new Map((await fixture.listed()).map(({ session_id, title }) => [session_id, title]))
  expect(titles.get(id(1))).toMatch(/^the heron builds .{50,62}…$/)
  expect(titles.get(id(2))).toBeNull()
})

test('import --dry-run reports the size and archives nothing', async () => {
  const fixture = withTranscripts({ 1: said('the heron builds a nest') })
  expect((await fixture.run(['import', '--dry-run'])).stdout).toMatch(/^Would import 1 transcript \(\d+ B\)\./m)
  expect(await fixture.listed()).toEqual([])
})

test('import skips headless runs unless they are asked for', async () => {
  const fixture = withTranscripts({ 1: said('the heron', 'sdk-cli'), 2: said('the stork') })
  const first = await fixture.run(['import'])
  expect(first.stdout).toContain('Imported 1 transcript')
  expect(first.stdout).toContain('1 headless (--headless imports them)')
  const second = await fixture.run(['import'])
  expect(second.stdout).toContain('Nothing to import now.')
  expect(second.stdout).not.toContain('every transcript is archived')
  expect((await fixture.run(['import', '--headless', '--json'])).json).toMatchObject({ found: 1, imported: 1 })
  expect((await fixture.run(['import'])).stdout).toContain('Nothing to import: every transcript is archived.')
})

test('import skips projects where archiving is off, and sessions that were forgotten', async () => {
  const fixture = withTranscripts({ 1: said('the heron'), 2: said('the stork') })
  fixture.fill((app) => {
    sendClientEvent(app, 'SessionEnd', id(2), '/projects/site', { transcript_path: fixture.path(2), reason: 'other' })
  })
  expect((await fixture.run(['archive', 'forget', id(2)])).code).toBe(0)
  writeFileSync(
    join(fixture.env.BATON_HOME!, 'config.yaml'),
    'overrides:\n  - when: {project: /projects/shop}\n    archive: {enabled: false}\n',
  )
  expect((await fixture.run(['import', '--json'])).json).toMatchObject({
    found: 0,
    left_out: { off: 1, forgotten: 1 },
  })
})

test('import skips transcripts older than the user’s cleanupPeriodDays, and doctor and list name it', async () => {
  const fixture = withTranscripts({ 1: said('the heron'), 2: said('the stork') })
  const settings = join(fixture.user, '.claude', 'settings.json')
  writeFileSync(settings, '{"cleanupPeriodDays": 7}')
  const old = new Date(Date.now() - 8 * 24 * 3_600_000)
  utimesSync(fixture.path(1), old, old)
  const before = (await fixture.run(['doctor', '--json'])).json
  expect((await fixture.run(['import', '--json'])).json).toMatchObject({ imported: 1, left_out: { expired: 1 } })
  expect((await fixture.run(['archive', 'list'])).stdout).toContain(
    'cleanupPeriodDays in ~/.claude/settings.json also limits',
  )
  const after = (await fixture.run(['doctor', '--json'])).json
  const detailOf = (report: { checks: { name: string; detail: string }[] }) =>
    report.checks.find(({ name }) => name === 'transcripts')!.detail
  expect(detailOf(before)).not.toContain('cleanupPeriodDays')
  expect(detailOf(after)).toMatch(/^1 transcript archived/)
  expect(detailOf(after)).toContain(`cleanupPeriodDays in ${settings}`)
  expect(detailOf(after)).toContain(' 7 days')
})

test('doctor reports the number of unarchived transcripts and when the client deletes the first', async () => {
  const fixture = withTranscripts({ 1: said('the heron'), 2: said('the stork') })
  await fixture.run(['status'])
  const old = new Date(Date.now() - 27.5 * 24 * 3_600_000)
  utimesSync(fixture.path(1), old, old)
  const { checks } = (await fixture.run(['doctor', '--json'])).json as { checks: { name: string; detail: string }[] }
  const { detail } = checks.find(({ name }) => name === 'transcripts')!
  expect(detail).toMatch(/^0 transcripts archived, 2 not \(0\.0 MB\)/)
  expect(detail).toMatch(/ in 2 days\b.*baton import/)
})

test('import --from archives the transcripts of a copied folder and refuses a missing one', async () => {
  const fixture = withTranscripts({})
  const backup = join(fixture.dir, 'backup')
  mkdirSync(join(backup, 'projects', '-work-shop'), { recursive: true })
  writeFileSync(join(backup, 'projects', '-work-shop', `${id(3)}.jsonl`), said('the crane'))
  for (const from of [backup, join(backup, 'projects'), join(backup, 'projects', '-work-shop')])
    expect((await fixture.run(['import', '--from', from, '--json'])).json).toMatchObject({
      left_out: { archived: from === backup ? 0 : 1 },
    })
  expect(await fixture.run(['import', '--from', '/nowhere'])).toMatchObject({ code: 3 })
})

test('import skips pipes, folders, links to other places and files of other users', async () => {
  const fixture = withTranscripts({ 1: said('the heron'), 5: said('of another user') })
  spawnSync('mkfifo', [fixture.path(2)])
  mkdirSync(fixture.path(3))
  writeFileSync(join(fixture.dir, 'secret'), said('a secret'))
  symlinkSync(join(fixture.dir, 'secret'), fixture.path(4))
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(fixture.path(5), 65534, 65534)
  const { json } = await fixture.run(['import', '--json'])
  expect(json.imported).toBe(isRoot ? 1 : 2)
  expect((await fixture.run(['recall', 'secret', '--json'])).json.hits).toEqual([])
})

test('Ctrl-C during an import finishes the current transcript, and the next import continues', async () => {
  const fixture = withTranscripts({ 1: said('the heron'), 2: said('the stork'), 3: said('the crane') })
  const gate = faultGate(fixture.dir, 'ARCHIVE_SEGMENT')
  const started = fixture.start(['import', '--json'], { env: gate.env })
  await gate.reached()
  started.child.kill('SIGINT')
  gate.open()
  const stopped = await started.done
  expect(stopped.code).toBe(1)
  expect(stopped.json).toMatchObject({ imported: 1, left: 2 })
  expect(await fixture.listed()).toMatchObject([{ status: 'kept' }])
  expect(readdirSync(join(fixture.env.BATON_HOME!, 'archive', 'pending'))).toEqual([])
  expect((await fixture.run(['import', '--json'])).json).toMatchObject({ imported: 2, left: 0 })
})

test('an import finishes what a killed import left, and stores nothing twice', async () => {
  const fixture = withTranscripts({ 1: said('the heron'), 2: said('the stork') })
  const gate = faultGate(fixture.dir, 'ARCHIVE_SEGMENT')
  const started = fixture.start(['import'], { env: gate.env })
  await gate.reached()
  started.child.kill('SIGKILL')
  await started.done
  gate.open()
  expect((await fixture.run(['import', '--json'])).json).toMatchObject({ failed: [] })
  const archives = await fixture.listed()
  expect(archives.map(({ session_id, status }) => `${session_id} ${status}`).sort()).toEqual([
    `${id(1)} kept`,
    `${id(2)} kept`,
  ])
})
