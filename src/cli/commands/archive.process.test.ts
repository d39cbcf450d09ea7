import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BATON } from '../../../test/harness/paths.js'
import { createTestHome, sendReading, type TestHome } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

const OF_THE_USER = { type: 'user', uuid: 'u', isSidechain: false, timestamp: '2026-03-01T10:00:00.000Z' }
const prompt = (text: string): string =>
  `${JSON.stringify({ ...OF_THE_USER, message: { role: 'user', content: text } })}\n`

/** Creates a session that Baton knows, with a transcript in its project. */
function session(fixture: TestHome, id: string, text: string, project = fixture.project): string {
  const path = join(project, `${id}.jsonl`)
  mkdirSync(project, { recursive: true })
  writeFileSync(path, text, { flag: 'a' })
  fixture.fill((app) => {
    if (!app.store.session(id)) sendReading(app, { session: id, project })
    const record = app.store.session(id)!
    app.store.transaction(() => app.store.putSession({ ...record, transcriptPath: path }))
  })
  return path
}

async function keep(fixture: TestHome, id: string): Promise<string> {
  const ran = await fixture.run(['archive', 'keep', id, '--json'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return ran.json.archive_id
}

describe('baton archive', () => {
  test('archive keeps, lists, shows and restores a transcript byte for byte', async () => {
    const fixture = createTestHome()
    const path = session(fixture, A, prompt('fix the login') + prompt('no line end').trimEnd())
    const subagents = join(fixture.project, A, 'subagents')
    mkdirSync(subagents, { recursive: true })
    writeFileSync(join(subagents, 'agent-x1.jsonl'), prompt('helper'))
    const id = await keep(fixture, 'aaaa')
    const { archives } = (await fixture.run(['archive', 'list', '--json'])).json
    expect(archives).toEqual([
      {
        archive_id: id,
        session_id: A,
        title: null,
        project: fixture.project,
        trigger: 'request',
        status: 'kept',
        reason: null,
        indexed: true,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        bytes: statSync(path).size,
        stored_bytes: expect.any(Number),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        path: expect.stringMatching(/archive\/aaaaaaaa-.*_\d{8}T\d{6}\.\d{6}Z_request\.jsonl\.br$/),
        subagents: [{ name: 'agent-x1', bytes: prompt('helper').length, sha256: expect.any(String), trouble: null }],
      },
    ])
    expect(existsSync(archives[0].path)).toBe(true)
    const table = await fixture.run(['archive', 'list'])
    expect(table.stdout).toMatch(
      /^ARCHIVE +CREATED +SESSION +PROJECT +TRIGGER +SIZE +STORED +STATUS\narc_.* on request /,
    )
    expect((await fixture.run(['archive', 'show', id.slice(0, 10)])).stdout).toMatch(
      /kept\n[\s\S]*, on request\n[\s\S]*subagent +agent-x1 +/,
    )
    expect((await fixture.run(['archive', 'show', id.slice(4), '--json'])).json).toMatchObject({
      archive_id: id,
      transcript_path: path,
    })

    const restored = await fixture.run(['archive', 'restore', id.slice(0, 9), '--to', 'back.jsonl', '--json'])
    expect(restored.json).toMatchObject({
      archive_id: id,
      path: join(fixture.project, 'back.jsonl'),
      sha256: archives[0].sha256,
    })
    expect(readFileSync(join(fixture.project, 'back.jsonl')).equals(readFileSync(path))).toBe(true)
    expect(statSync(join(fixture.project, 'back.jsonl')).mode & 0o777).toBe(0o600)
    const again = await fixture.run(['archive', 'restore', id, '--to', 'back.jsonl'])
    expect(again).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('--force') })
    expect(
      (await fixture.run(['archive', 'restore', id, '--to', 'back.jsonl', '--force', '--subagent', 'x1'])).code,
    ).toBe(0)
    expect(readFileSync(join(fixture.project, 'back.jsonl'), 'utf8')).toBe(prompt('helper'))
    const events = fixture.fill((app) =>
      app.store.events({ sessionId: A }).filter(({ type }) => type === 'archive_created'),
    )
    expect(events).toMatchObject([
      { session_id: A, seat_id: expect.stringMatching(/^seat_/), data: { archive_id: id, trigger: 'request' } },
    ])
  })

  test('archive finishes planned archives before it lists any, and reports those that failed', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('planned'))
    const { planArchive } = await import('../../archive/plan-archive.js')
    const { archivePaths } = await import('../../archive/archive-folders.js')
    fixture.fill((app) => {
      const parts = {
        store: app.store,
        places: archivePaths(app.home.root),
        now: app.now,
        newId: () => crypto.randomUUID(),
        log: app.log,
      }
      const about = { agent: 'claude-code', project: fixture.project, trigger: 'auto', subagents: () => [] } as const
      app.store.transaction(() =>
        planArchive(parts, { ...about, sessionId: A, transcript: app.store.session(A)!.transcriptPath }),
      )
      app.store.transaction(() =>
        planArchive(parts, { ...about, sessionId: B, transcript: join(fixture.dir, 'gone.jsonl') }),
      )
    })
    const { stdout } = await fixture.run(['archive', 'list'])
    expect(stdout).toMatch(/aaaaaaaa .* before a compaction +\d+ B +\d+ B +kept/)
    expect(stdout).toMatch(/bbbbbbbb .* failed/)
    expect(stdout).toContain('the transcript does not exist')
    const verified = (await fixture.run(['archive', 'verify', '--json'])).json
    expect(verified).toMatchObject({
      ok: true,
      not_kept: [{ status: 'failed', reason: 'the transcript does not exist' }],
    })
    expect(await fixture.run(['archive', 'restore', verified.not_kept[0].archive_id, '--to', 'x'])).toMatchObject({
      code: 3,
    })
  })

  test('archive search finds words, phrases and prefixes, everywhere or in a session or project', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('Never touch the "migrations" folder') + prompt('数据库 later'))
    session(fixture, B, prompt('the migrations are fine'), join(fixture.user, 'site'))
    await keep(fixture, A)
    await keep(fixture, B)
    const hits = async (...args: string[]) =>
      (await fixture.run(['archive', 'search', ...args, '--json'])).json.hits
        .map((hit: { session_id: string }) => hit.session_id[0])
        .sort()
        .join('')
    expect(await hits('migrations')).toBe('ab')
    expect(await hits('"never touch"', 'migr*')).toBe('a')
    expect(await hits('migrations', '--session', 'bbbb')).toBe('b')
    expect(await hits('migrations', '--project', '.')).toBe('a')
    symlinkSync(join(fixture.user, 'site'), join(fixture.user, 'link'))
    expect(await hits('migrations', '--project', join(fixture.user, 'link'))).toBe('b')
    expect(await hits('数据库')).toBe('a')
    expect(await hits('migrations', '--limit', '1')).toHaveLength(1)
    const shown = await fixture.run(['archive', 'search', 'touch'])
    expect(shown.stdout).toMatch(
      /^arc_\w+:1 +prompt +aaaaaaaa +~\/shop +2026-03-01 10:00:00 \+00:00\n {2}Never touch the "migrations" folder\n$/,
    )
    expect((await fixture.run(['archive', 'search', 'nowhere'])).stdout).toMatch(/^No hits/)
    for (const query of ['"', 'AND OR', '"; DROP', 'a NEAR(', '(((', '-x', "'"]) {
      expect((await fixture.run(['archive', 'search', '--json', '--', query])).code, query).toBe(0)
    }
    expect(await fixture.run(['archive', 'search', '   '])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/query is empty[\s\S]*"a phrase"/),
    })
  })

  test('archive verify exits with 1 when an archive is damaged', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('one'))
    const id = await keep(fixture, A)
    expect(await fixture.run(['archive', 'verify'])).toMatchObject({ code: 0, stdout: '1 archive is intact.\n' })
    const folder = join(fixture.env.BATON_HOME!, 'archive')
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.br'))
    writeFileSync(join(folder, 'stray'), '')
    writeFileSync(join(folder, file!), 'x')
    const ran = await fixture.run(['archive', 'verify', '--json'])
    expect(ran.code).toBe(1)
    expect(ran.json).toMatchObject({
      ok: false,
      archives: [{ archive_id: id, state: 'damaged' }],
      extra: [join(folder, 'stray')],
    })
    expect((await fixture.run(['archive', 'verify', id])).code).toBe(1)
    const lost = await fixture.run(['archive', 'restore', id, '--to', 'x.jsonl'])
    expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be unpacked') })
    expect(existsSync(join(fixture.project, 'x.jsonl'))).toBe(false)
  })

  test('archive export removes secrets by built-in and own patterns, and refuses a wrong pattern', async () => {
    const fixture = createTestHome()
    const text = 'use DB_PASSWORD=correct-horse for ACME-42, write to me@example.com'
    session(fixture, A, prompt(text))
    const id = await keep(fixture, A)
    const config = fixture.putTrusted("archive: {redact: ['ACME-\\d+']}\n")
    const said = (file: string) => JSON.parse(readFileSync(join(fixture.project, file), 'utf8')).message.content
    expect((await fixture.run(['archive', 'export', id, '--to', 'plain.jsonl'])).code).toBe(0)
    expect(said('plain.jsonl')).toBe(text)
    const ran = await fixture.run(['archive', 'export', id, '--to', 'out.jsonl', '--redact', '--json'])
    expect(ran.json).toMatchObject({ redacted: true, removed: { removed: 1, secret: 1 } })
    expect(said('out.jsonl')).toBe('use DB_PASSWORD=[secret removed] for [removed], write to me@example.com')
    await fixture.run(['archive', 'export', id, '--to', 'mail.jsonl', '--redact', '--emails'])
    expect(said('mail.jsonl')).toMatch(/\[removed\], write to \[e-mail removed\]$/)
    writeFileSync(config, "archive: {redact: ['(']}\n")
    const wrong = await fixture.run(['archive', 'export', id, '--to', 'no.jsonl', '--redact'])
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/archive\.redact\[0\][\s\S]*not a regular expression/),
    })
    expect(existsSync(join(fixture.project, 'no.jsonl'))).toBe(false)
  })

  test('archive prune and forget remove old, excess or named archives and report the freed space', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('alpha'))
    session(fixture, B, prompt('beta'), join(fixture.user, 'site'))
    await keep(fixture, A)
    session(fixture, A, prompt('more'))
    await keep(fixture, A)
    const last = await keep(fixture, B)
    const disk = () => readdirSync(join(fixture.env.BATON_HOME!, 'archive')).filter((name) => name.endsWith('.br'))
    expect((await fixture.run(['archive', 'prune'])).code).toBe(2)
    const dry = (await fixture.run(['archive', 'prune', '--max-size', '1b', '--dry-run', '--json'])).json
    expect(dry).toMatchObject({ dry_run: true, archives: [{}, {}, {}], left: 0, left_bytes: 0 })
    expect(disk()).toHaveLength(3)
    const sizes = (await fixture.run(['archive', 'list', '--json'])).json
    expect(dry.freed_bytes).toBe(sizes.total_bytes)
    expect((await fixture.run(['archive', 'prune', '--older-than', '1h', '--json'])).json).toMatchObject({
      archives: [],
      freed_bytes: 0,
    })
    writeFileSync(
      join(fixture.env.BATON_HOME!, 'config.yaml'),
      `archive: {keep_bytes: ${sizes.archives[0].stored_bytes}}\n`,
    )
    const pruned = await fixture.run(['archive', 'prune'])
    expect(pruned.stdout).toMatch(/Deleted 2 archives\. This freed \d+ B, and /)
    expect(
      (await fixture.run(['archive', 'list', '--json'])).json.archives.map(
        (one: { archive_id: string }) => one.archive_id,
      ),
    ).toEqual([last])
    expect((await fixture.run(['archive', 'search', 'alpha', '--json'])).json.hits).toEqual([])

    expect(await fixture.run(['archive', 'forget', '--project', '.'])).toMatchObject({ code: 3 })
    expect((await fixture.run(['archive', 'forget', 'bbbb', '--dry-run'])).stdout).toContain('Would delete 1 archive')
    const gone = (await fixture.run(['archive', 'forget', '--project', join(fixture.user, 'site'), '--json'])).json
    expect(gone).toMatchObject({ archives: [{ archive_id: last }], left: 0, left_bytes: 0 })
    expect(disk()).toEqual([])
    expect(await fixture.run(['archive', 'forget', B])).toMatchObject({ code: 3 })
    expect(existsSync(join(fixture.user, 'site', `${B}.jsonl`))).toBe(true)
  })

  test('archive forget also deletes quoted facts of a session without an archive, to the last byte', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('alpha'))
    const secret = 'never-say-this-again'
    const fact = { kind: 'request', text: secret, line: 1, at: null, state: null, detail: {} } as const
    fixture.fill(({ store }) =>
      store.transaction(() =>
        store.putCompaction({
          sessionId: A,
          startedAt: '2026-03-01T10:00:00.000Z',
          trigger: 'auto',
          transcriptPath: null,
          bytes: 1,
          lines: 1,
          archiveId: null,
          sinceLine: 0,
          facts: [fact],
          trouble: null,
          first: null,
          second: null,
          loss: { total: 1, kept: 0, byKind: { request: { total: 1, kept: 0 } }, lost: [fact] },
        }),
      ),
    )
    const words = () => readFileSync(join(fixture.env.BATON_HOME!, 'baton.db'), 'latin1').includes(secret)
    expect((await fixture.run(['recall', '--lost'])).stdout).toContain(secret)
    expect((await fixture.run(['archive', 'forget', 'aaaa', '--dry-run'])).stdout).toMatch(/^Would delete quotes/)
    expect((await fixture.run(['recall', '--lost'])).stdout).toContain(secret)
    expect((await fixture.run(['archive', 'forget', '--project', '.'])).stdout).toMatch(/^Deleted quotes/)
    expect((await fixture.run(['recall', '--lost'])).stdout).not.toContain(secret)
    expect(words()).toBe(false)
    expect(await fixture.run(['archive', 'forget', 'aaaa'])).toMatchObject({ code: 3 })
  })

  test('archive refuses options that do not fit together, and says which do', async () => {
    const fixture = createTestHome()
    const cases: [string[], number, RegExp][] = [
      [['archive'], 2, /needs an action: list, show/],
      [['archive', 'serach', 'x'], 2, /Did you mean baton archive search\?/],
      [['archive', 'show'], 2, /needs more arguments: baton archive show <id>/],
      [['archive', 'show', 'arc_nope'], 3, /There is no archive "arc_nope"[\s\S]*archive list/],
      [['archive', 'list', 'x'], 2, /takes no argument "x"/],
      [['archive', 'list', '--to', 'x'], 2, /baton archive list has no option --to/],
      [['archive', 'restore', 'x'], 2, /--to FILE/],
      [['archive', 'export', 'x', '--to', 'y', '--emails'], 2, /Add --redact/],
      [['archive', 'prune', '--older-than', 'soon'], 2, /30d/],
      [['archive', 'prune', '--max-size', 'much'], 2, /10GB/],
      [['archive', 'prune', '--max-size', '10'], 2, /10GB/],
      [['archive', 'search', 'x', '--limit', '0'], 2, /1 to 1000/],
      [['archive', 'search', 'x', '--session', 'nobody'], 3, /There is no session "nobody"/],
      [['archive', 'forget'], 2, /baton archive forget <session\|id>/],
      [['archive', 'forget', 'x', '--project', '.'], 2, /baton archive forget <session\|id>/],
      [['archive', 'keep'], 2, /baton archive keep <session>/],
      [['archive', 'keep', 'nobody'], 3, /There is no session or seat/],
    ]
    for (const [args, code, says] of cases)
      expect(await fixture.run(args), args.join(' ')).toMatchObject({
        code,
        stdout: '',
        stderr: expect.stringMatching(says),
      })
    expect((await fixture.run(['archive', 'list'])).stdout).toMatch(/^No archives yet.*baton archive keep/s)
    expect((await fixture.run(['archive', 'list', '--json'])).json).toMatchObject({ archives: [], total_bytes: 0 })
    expect(await fixture.run(['archive', 'verify'])).toMatchObject({ code: 0, stdout: '0 archives are intact.\n' })
    expect((await fixture.run(['archive', 'finish'])).stdout).toBe('No archive was waiting.\n')
  })

  test('archive keep stores nothing where archiving is turned off', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('private'))
    fixture.putTrusted('archive: {enabled: false}\n')
    expect(await fixture.run(['archive', 'keep', A])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('turned off'),
    })
    expect((await fixture.run(['archive', 'list', '--json'])).json.archives).toEqual([])
  })

  test('the archive list fits a narrow terminal and prints no control characters', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('bell \u0007 and \u001b[31mred'))
    const id = await keep(fixture, A)
    const inTerminal = (args: string) =>
      spawnSync('script', ['-qec', `stty cols 40; ${process.execPath} ${BATON} ${args}`, '/dev/null'], {
        cwd: fixture.project,
        env: { ...fixture.env, TERM: 'xterm', NO_COLOR: '1' },
        encoding: 'utf8',
      }).stdout.replaceAll('\r', '')
    for (const args of ['archive list', 'archive search bell', 'recall bell', 'archive verify', `archive show ${id}`]) {
      const shown = inTerminal(args)
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
      for (const line of shown.split('\n')) expect(line.length, `${args}: ${line}`).toBeLessThanOrEqual(40)
    }
    const labels = inTerminal(`archive show ${id}`)
      .split('\n')
      .filter((line) => /^ {2}\S/.test(line))
    expect(labels.length).toBeGreaterThan(7)
    for (const line of labels) expect(line).toMatch(/^ {2}[a-z0-9]+ +\S/)
  })

  test('archive show lists its files and its size, alone and together with older archives', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('one'))
    const first = await keep(fixture, A)
    const same = await keep(fixture, A)
    session(fixture, A, prompt('two'))
    const last = await keep(fixture, A)
    const shown = async (id: string): Promise<string> => (await fixture.run(['archive', 'show', id])).stdout
    expect(await shown(first)).toMatch(/^ {2}stored +\d+ B$/m)
    expect(await shown(same)).toMatch(/^ {2}stored +nothing more than older archives of it, \d+ B with them$/m)
    expect(await shown(last)).toMatch(/^ {2}stored +\d+ B more than older archives of it, \d+ B with them$/m)
    const files = [...(await shown(last)).matchAll(/^ {2}file +(.*)$/gm)].map(([, file]) =>
      file!.replace(/^~/, fixture.env.HOME!),
    )
    expect(files).toHaveLength(2)
    for (const file of files) expect(existsSync(file)).toBe(true)
  })
})

describe('baton recall', () => {
  test('recall prints whole messages, with the seat’s own sessions first', async () => {
    const fixture = createTestHome()
    const long = `deploy only on Fridays\n${'because '.repeat(60)}end`
    session(fixture, A, prompt(long))
    session(fixture, B, prompt('deploy whenever you like'), join(fixture.user, 'site'))
    const id = await keep(fixture, A)
    await keep(fixture, B)
    const all = (await fixture.run(['recall', 'deploy', '--json'])).json
    expect(all).toMatchObject({ scope: 'all', hits: [{}, {}] })
    const own = (await fixture.run(['recall', 'deploy', '--json'], { env: { CLAUDE_CODE_SESSION_ID: A } })).json
    expect(own).toEqual({
      scope: 'seat',
      unreadable: [],
      unread: [],
      hits: [expect.objectContaining({ archive_id: id, line: 1, kind: 'prompt', text: long })],
    })
    const wide = (await fixture.run(['recall', 'whenever', '--json'], { env: { CLAUDE_CODE_SESSION_ID: A } })).json
    expect(wide).toMatchObject({ scope: 'all', hits: [{ session_id: B }] })
    expect((await fixture.run(['recall', 'deploy', '--session', 'bbbb', '--json'])).json).toMatchObject({
      scope: 'session',
      hits: [{ session_id: B }],
    })
    expect((await fixture.run(['recall', '"only on Fridays"'])).stdout).toContain(
      `  deploy only on Fridays\n  because because`,
    )
    expect((await fixture.run(['recall', 'nowhere-to-be-found'])).stdout).toMatch(/^No hits/)
  })

  test('recall highlights words with special characters literally', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('run step-5 with --run and a/b (c) [d] $e ^f a+b*c? x|y {z} \\\\ path'))
    await keep(fixture, A)
    for (const query of [
      'step-5',
      '--run',
      'a/b',
      '(c)',
      '[d]',
      '$e',
      '^f',
      'a+b',
      'x|y',
      '{z}',
      '\\\\',
      '"step-5 with"',
    ]) {
      const words = /[a-z]/.test(query) ? query : `${query} path`
      expect(await fixture.run(['recall', '--', words]), query).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('run step-5'),
      })
    }
  })

  test('recall and doctor report a match whose archive file is gone', async () => {
    const fixture = createTestHome()
    session(fixture, A, prompt('the tax rules'))
    const id = await keep(fixture, A)
    const { archives } = (await fixture.run(['archive', 'list', '--json'])).json
    const checked = async () =>
      (await fixture.run(['doctor', '--json'])).json.checks.find(({ name }: { name: string }) => name === 'archives')
    expect(await checked()).toMatchObject({ ok: true, detail: expect.stringMatching(/^1 file\b/) })
    writeFileSync(archives[0].path, readFileSync(archives[0].path).subarray(0, 10))
    for (const command of [['recall'], ['archive', 'search']]) {
      expect(await fixture.run([...command, 'tax'])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(id),
      })
      expect((await fixture.run([...command, 'tax', '--json'])).json).toMatchObject({ hits: [], unreadable: [id] })
    }
    expect(await checked()).toMatchObject({ ok: false, fix: expect.stringContaining('archive verify') })
    expect((await fixture.run(['archive', 'forget', id])).stdout).toContain('Deleted 1 archive')
    expect(await checked()).toMatchObject({ ok: true, detail: expect.stringMatching(/^No archives/) })
  })
})
