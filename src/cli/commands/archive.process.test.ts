import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BATON } from '../../../test/harness/paths.js'
import { newTrial, type Trial, tell } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

const prompt = (text: string): string =>
  `${JSON.stringify({ type: 'user', uuid: 'u', isSidechain: false, timestamp: '2026-03-01T10:00:00.000Z', message: { role: 'user', content: text } })}\n`

/** Creates a session that Baton knows, with a transcript in its project. */
function session(trial: Trial, id: string, text: string, project = trial.project): string {
  const path = join(project, `${id}.jsonl`)
  mkdirSync(project, { recursive: true })
  writeFileSync(path, text, { flag: 'a' })
  trial.fill((app) => {
    if (!app.store.session(id)) tell(app, { session: id, project })
    const record = app.store.session(id)!
    app.store.transaction(() => app.store.putSession({ ...record, transcriptPath: path }))
  })
  return path
}

async function keep(trial: Trial, id: string): Promise<string> {
  const ran = await trial.run(['archive', 'keep', id, '--json'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return ran.json.archive_id
}

describe('baton archive', () => {
  test('archive keeps, lists, shows and restores a transcript byte for byte', async () => {
    const trial = newTrial()
    const path = session(trial, A, prompt('fix the login') + prompt('no line end').trimEnd())
    const subagents = join(trial.project, A, 'subagents')
    mkdirSync(subagents, { recursive: true })
    writeFileSync(join(subagents, 'agent-x1.jsonl'), prompt('helper'))
    const id = await keep(trial, 'aaaa')
    const { archives } = (await trial.run(['archive', 'list', '--json'])).json
    expect(archives).toEqual([
      {
        archive_id: id,
        session_id: A,
        title: null,
        project: trial.project,
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
    const table = await trial.run(['archive', 'list'])
    expect(table.stdout).toMatch(
      /^ARCHIVE +CREATED +SESSION +PROJECT +TRIGGER +SIZE +STORED +STATUS\narc_.* on request /,
    )
    expect((await trial.run(['archive', 'show', id.slice(0, 10)])).stdout).toMatch(
      /kept\n[\s\S]*, on request\n[\s\S]*subagent +agent-x1 +/,
    )
    expect((await trial.run(['archive', 'show', id.slice(4), '--json'])).json).toMatchObject({
      archive_id: id,
      transcript_path: path,
    })

    const restored = await trial.run(['archive', 'restore', id.slice(0, 9), '--to', 'back.jsonl', '--json'])
    expect(restored.json).toMatchObject({
      archive_id: id,
      path: join(trial.project, 'back.jsonl'),
      sha256: archives[0].sha256,
    })
    expect(readFileSync(join(trial.project, 'back.jsonl')).equals(readFileSync(path))).toBe(true)
    expect(statSync(join(trial.project, 'back.jsonl')).mode & 0o777).toBe(0o600)
    const again = await trial.run(['archive', 'restore', id, '--to', 'back.jsonl'])
    expect(again).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('already there') })
    expect(
      (await trial.run(['archive', 'restore', id, '--to', 'back.jsonl', '--force', '--subagent', 'x1'])).code,
    ).toBe(0)
    expect(readFileSync(join(trial.project, 'back.jsonl'), 'utf8')).toBe(prompt('helper'))
    const events = trial.fill((app) =>
      app.store.events({ sessionId: A }).filter(({ type }) => type === 'archive_created'),
    )
    expect(events).toMatchObject([
      { session_id: A, seat_id: expect.stringMatching(/^seat_/), data: { archive_id: id, trigger: 'request' } },
    ])
  })

  test('archive finishes planned archives before it lists any, and reports those that failed', async () => {
    const trial = newTrial()
    session(trial, A, prompt('planned'))
    const { planArchive } = await import('../../archive/plan-archive.js')
    const { archivePaths } = await import('../../archive/archive-folders.js')
    trial.fill((app) => {
      const parts = {
        store: app.store,
        places: archivePaths(app.home.root),
        now: app.now,
        newId: () => crypto.randomUUID(),
        log: app.log,
      }
      const about = { agent: 'claude-code', project: trial.project, trigger: 'auto', subagents: () => [] } as const
      app.store.transaction(() =>
        planArchive(parts, { ...about, sessionId: A, transcript: app.store.session(A)!.transcriptPath }),
      )
      app.store.transaction(() =>
        planArchive(parts, { ...about, sessionId: B, transcript: join(trial.dir, 'gone.jsonl') }),
      )
    })
    const { stdout } = await trial.run(['archive', 'list'])
    expect(stdout).toMatch(/aaaaaaaa .* before a compaction +\d+ B +\d+ B +kept/)
    expect(stdout).toMatch(/bbbbbbbb .* failed/)
    expect(stdout).toContain('the transcript is not there')
    const verified = (await trial.run(['archive', 'verify', '--json'])).json
    expect(verified).toMatchObject({
      ok: true,
      not_kept: [{ status: 'failed', reason: 'the transcript is not there' }],
    })
    expect(await trial.run(['archive', 'restore', verified.not_kept[0].archive_id, '--to', 'x'])).toMatchObject({
      code: 3,
    })
  })

  test('archive search finds words, phrases and prefixes, everywhere or in a session or project', async () => {
    const trial = newTrial()
    session(trial, A, prompt('Never touch the "migrations" folder') + prompt('数据库 later'))
    session(trial, B, prompt('the migrations are fine'), join(trial.user, 'site'))
    await keep(trial, A)
    await keep(trial, B)
    const hits = async (...args: string[]) =>
      (await trial.run(['archive', 'search', ...args, '--json'])).json.hits
        .map((hit: { session_id: string }) => hit.session_id[0])
        .sort()
        .join('')
    expect(await hits('migrations')).toBe('ab')
    expect(await hits('"never touch"', 'migr*')).toBe('a')
    expect(await hits('migrations', '--session', 'bbbb')).toBe('b')
    expect(await hits('migrations', '--project', '.')).toBe('a')
    symlinkSync(join(trial.user, 'site'), join(trial.user, 'link'))
    expect(await hits('migrations', '--project', join(trial.user, 'link'))).toBe('b')
    expect(await hits('数据库')).toBe('a')
    expect(await hits('migrations', '--limit', '1')).toHaveLength(1)
    const shown = await trial.run(['archive', 'search', 'touch'])
    expect(shown.stdout).toMatch(
      /^arc_\w+:1 +prompt +aaaaaaaa +~\/shop +2026-03-01 10:00:00 \+00:00\n {2}Never touch the "migrations" folder\n$/,
    )
    expect((await trial.run(['archive', 'search', 'nowhere'])).stdout).toContain('Nothing found')
    for (const query of ['"', 'AND OR', '"; DROP', 'a NEAR(', '(((', '-x', "'"]) {
      expect((await trial.run(['archive', 'search', '--json', '--', query])).code, query).toBe(0)
    }
    expect(await trial.run(['archive', 'search', '   '])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing to look for'),
    })
  })

  test('archive verify exits with 1 when an archive is damaged', async () => {
    const trial = newTrial()
    session(trial, A, prompt('one'))
    const id = await keep(trial, A)
    expect(await trial.run(['archive', 'verify'])).toMatchObject({ code: 0, stdout: '1 archive is whole.\n' })
    const folder = join(trial.env.BATON_HOME!, 'archive')
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.br'))
    writeFileSync(join(folder, 'stray'), '')
    writeFileSync(join(folder, file!), 'x')
    const ran = await trial.run(['archive', 'verify', '--json'])
    expect(ran.code).toBe(1)
    expect(ran.json).toMatchObject({
      ok: false,
      archives: [{ archive_id: id, state: 'damaged' }],
      extra: [join(folder, 'stray')],
    })
    expect((await trial.run(['archive', 'verify', id])).code).toBe(1)
    const lost = await trial.run(['archive', 'restore', id, '--to', 'x.jsonl'])
    expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be unpacked') })
    expect(existsSync(join(trial.project, 'x.jsonl'))).toBe(false)
  })

  test('archive export removes secrets by built-in and own patterns, and refuses a wrong pattern', async () => {
    const trial = newTrial()
    const text = 'use DB_PASSWORD=correct-horse for ACME-42, write to me@example.com'
    session(trial, A, prompt(text))
    const id = await keep(trial, A)
    const config = trial.putTrusted("archive: {redact: ['ACME-\\d+']}\n")
    const said = (file: string) => JSON.parse(readFileSync(join(trial.project, file), 'utf8')).message.content
    expect((await trial.run(['archive', 'export', id, '--to', 'plain.jsonl'])).code).toBe(0)
    expect(said('plain.jsonl')).toBe(text)
    const ran = await trial.run(['archive', 'export', id, '--to', 'out.jsonl', '--redact', '--json'])
    expect(ran.json).toMatchObject({ redacted: true, removed: { removed: 1, secret: 1 } })
    expect(said('out.jsonl')).toBe('use DB_PASSWORD=[secret removed] for [removed], write to me@example.com')
    await trial.run(['archive', 'export', id, '--to', 'mail.jsonl', '--redact', '--emails'])
    expect(said('mail.jsonl')).toMatch(/\[removed\], write to \[e-mail removed\]$/)
    writeFileSync(config, "archive: {redact: ['(']}\n")
    const wrong = await trial.run(['archive', 'export', id, '--to', 'no.jsonl', '--redact'])
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/archive\.redact\[0\][\s\S]*not a regular expression/),
    })
    expect(existsSync(join(trial.project, 'no.jsonl'))).toBe(false)
  })

  test('archive prune and forget remove old, excess or named archives and report the freed space', async () => {
    const trial = newTrial()
    session(trial, A, prompt('alpha'))
    session(trial, B, prompt('beta'), join(trial.user, 'site'))
    await keep(trial, A)
    session(trial, A, prompt('more'))
    await keep(trial, A)
    const last = await keep(trial, B)
    const disk = () => readdirSync(join(trial.env.BATON_HOME!, 'archive')).filter((name) => name.endsWith('.br'))
    expect((await trial.run(['archive', 'prune'])).code).toBe(2)
    const dry = (await trial.run(['archive', 'prune', '--max-size', '1b', '--dry-run', '--json'])).json
    expect(dry).toMatchObject({ dry_run: true, archives: [{}, {}, {}], left: 0, left_bytes: 0 })
    expect(disk()).toHaveLength(3)
    const sizes = (await trial.run(['archive', 'list', '--json'])).json
    expect(dry.freed_bytes).toBe(sizes.total_bytes)
    expect((await trial.run(['archive', 'prune', '--older-than', '1h', '--json'])).json).toMatchObject({
      archives: [],
      freed_bytes: 0,
    })
    writeFileSync(
      join(trial.env.BATON_HOME!, 'config.yaml'),
      `archive: {keep_bytes: ${sizes.archives[0].stored_bytes}}\n`,
    )
    const pruned = await trial.run(['archive', 'prune'])
    expect(pruned.stdout).toMatch(/Pruned 2 archives; freed \d+ B and /)
    expect(
      (await trial.run(['archive', 'list', '--json'])).json.archives.map(
        (one: { archive_id: string }) => one.archive_id,
      ),
    ).toEqual([last])
    expect((await trial.run(['archive', 'search', 'alpha', '--json'])).json.hits).toEqual([])

    expect(await trial.run(['archive', 'forget', '--project', '.'])).toMatchObject({ code: 3 })
    expect((await trial.run(['archive', 'forget', 'bbbb', '--dry-run'])).stdout).toContain('Would forget 1 archive')
    const gone = (await trial.run(['archive', 'forget', '--project', join(trial.user, 'site'), '--json'])).json
    expect(gone).toMatchObject({ archives: [{ archive_id: last }], left: 0, left_bytes: 0 })
    expect(disk()).toEqual([])
    expect(await trial.run(['archive', 'forget', B])).toMatchObject({ code: 3 })
    expect(existsSync(join(trial.user, 'site', `${B}.jsonl`))).toBe(true)
  })

  test('archive forget also deletes quoted facts of a session without an archive, to the last byte', async () => {
    const trial = newTrial()
    session(trial, A, prompt('alpha'))
    const secret = 'never-say-this-again'
    const fact = { kind: 'request', text: secret, line: 1, at: null, state: null, detail: {} } as const
    trial.fill(({ store }) =>
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
    const words = () => readFileSync(join(trial.env.BATON_HOME!, 'baton.db'), 'latin1').includes(secret)
    expect((await trial.run(['recall', '--lost'])).stdout).toContain(secret)
    expect((await trial.run(['archive', 'forget', 'aaaa', '--dry-run'])).stdout).toContain(
      'Would forget what was quoted',
    )
    expect((await trial.run(['recall', '--lost'])).stdout).toContain(secret)
    expect((await trial.run(['archive', 'forget', '--project', '.'])).stdout).toContain('Forgot what was quoted')
    expect((await trial.run(['recall', '--lost'])).stdout).not.toContain(secret)
    expect(words()).toBe(false)
    expect(await trial.run(['archive', 'forget', 'aaaa'])).toMatchObject({ code: 3 })
  })

  test('archive refuses options that do not fit together, and says which do', async () => {
    const trial = newTrial()
    const cases: [string[], number, RegExp][] = [
      [['archive'], 2, /needs one of: list, show/],
      [['archive', 'serach', 'x'], 2, /Did you mean search\?/],
      [['archive', 'show'], 2, /needs more: baton archive show <id>/],
      [['archive', 'show', 'arc_nope'], 3, /There is no archive "arc_nope"[\s\S]*archive list/],
      [['archive', 'list', 'x'], 2, /does not know what to do with "x"/],
      [['archive', 'list', '--to', 'x'], 2, /baton archive list has no option --to/],
      [['archive', 'restore', 'x'], 2, /--to FILE/],
      [['archive', 'export', 'x', '--to', 'y', '--emails'], 2, /--emails needs --redact/],
      [['archive', 'prune', '--older-than', 'soon'], 2, /30d/],
      [['archive', 'prune', '--max-size', 'much'], 2, /10GB/],
      [['archive', 'prune', '--max-size', '10'], 2, /10GB/],
      [['archive', 'search', 'x', '--limit', '0'], 2, /1 to 1000/],
      [['archive', 'search', 'x', '--session', 'nobody'], 3, /No session is known as "nobody"/],
      [['archive', 'forget'], 2, /Forget what\?/],
      [['archive', 'forget', 'x', '--project', '.'], 2, /Forget what\?/],
      [['archive', 'keep'], 2, /Which session\?/],
      [['archive', 'keep', 'nobody'], 3, /There is no session or seat/],
    ]
    for (const [args, code, says] of cases)
      expect(await trial.run(args), args.join(' ')).toMatchObject({
        code,
        stdout: '',
        stderr: expect.stringMatching(says),
      })
    expect((await trial.run(['archive', 'list'])).stdout).toContain('No archives.')
    expect((await trial.run(['archive', 'list', '--json'])).json).toMatchObject({ archives: [], total_bytes: 0 })
    expect(await trial.run(['archive', 'verify'])).toMatchObject({ code: 0, stdout: '0 archives are whole.\n' })
    expect((await trial.run(['archive', 'finish'])).stdout).toBe('Nothing was waiting.\n')
  })

  test('archive keep stores nothing where archiving is turned off', async () => {
    const trial = newTrial()
    session(trial, A, prompt('private'))
    trial.putTrusted('archive: {enabled: false}\n')
    expect(await trial.run(['archive', 'keep', A])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('turned off'),
    })
    expect((await trial.run(['archive', 'list', '--json'])).json.archives).toEqual([])
  })

  test('the archive list fits a narrow terminal and prints no control characters', async () => {
    const trial = newTrial()
    session(trial, A, prompt('bell \u0007 and \u001b[31mred'))
    const id = await keep(trial, A)
    const inTerminal = (args: string) =>
      spawnSync('script', ['-qec', `stty cols 40; ${process.execPath} ${BATON} ${args}`, '/dev/null'], {
        cwd: trial.project,
        env: { ...trial.env, TERM: 'xterm', NO_COLOR: '1' },
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
    const trial = newTrial()
    session(trial, A, prompt('one'))
    const first = await keep(trial, A)
    const same = await keep(trial, A)
    session(trial, A, prompt('two'))
    const last = await keep(trial, A)
    const shown = async (id: string): Promise<string> => (await trial.run(['archive', 'show', id])).stdout
    expect(await shown(first)).toMatch(/^ {2}stored +\d+ B$/m)
    expect(await shown(same)).toMatch(/^ {2}stored +nothing beyond older archives of it, \d+ B with them$/m)
    expect(await shown(last)).toMatch(/^ {2}stored +\d+ B beyond older archives of it, \d+ B with them$/m)
    const files = [...(await shown(last)).matchAll(/^ {2}file +(.*)$/gm)].map(([, file]) =>
      file!.replace(/^~/, trial.env.HOME!),
    )
    expect(files).toHaveLength(2)
    for (const file of files) expect(existsSync(file)).toBe(true)
  })
})

describe('baton recall', () => {
  test('recall prints whole messages, with the seat’s own sessions first', async () => {
    const trial = newTrial()
    const long = `deploy only on Fridays\n${'because '.repeat(60)}end`
    session(trial, A, prompt(long))
    session(trial, B, prompt('deploy whenever you like'), join(trial.user, 'site'))
    const id = await keep(trial, A)
    await keep(trial, B)
    const all = (await trial.run(['recall', 'deploy', '--json'])).json
    expect(all).toMatchObject({ scope: 'all', hits: [{}, {}] })
    const own = (await trial.run(['recall', 'deploy', '--json'], { env: { CLAUDE_CODE_SESSION_ID: A } })).json
    expect(own).toEqual({
      scope: 'seat',
      unreadable: [],
      unread: [],
      hits: [expect.objectContaining({ archive_id: id, line: 1, kind: 'prompt', text: long })],
    })
    const wide = (await trial.run(['recall', 'whenever', '--json'], { env: { CLAUDE_CODE_SESSION_ID: A } })).json
    expect(wide).toMatchObject({ scope: 'all', hits: [{ session_id: B }] })
    expect((await trial.run(['recall', 'deploy', '--session', 'bbbb', '--json'])).json).toMatchObject({
      scope: 'session',
      hits: [{ session_id: B }],
    })
    expect((await trial.run(['recall', '"only on Fridays"'])).stdout).toContain(
      `  deploy only on Fridays\n  because because`,
    )
    expect((await trial.run(['recall', 'nothing-like-it'])).stdout).toContain('Nothing found')
  })

  test('recall highlights words with special characters literally', async () => {
    const trial = newTrial()
    session(trial, A, prompt('run step-5 with --run and a/b (c) [d] $e ^f a+b*c? x|y {z} \\\\ path'))
    await keep(trial, A)
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
      expect(await trial.run(['recall', '--', words]), query).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('run step-5'),
      })
    }
  })

  test('recall and doctor report a match whose archive file is gone', async () => {
    const trial = newTrial()
    session(trial, A, prompt('the tax rules'))
    const id = await keep(trial, A)
    const { archives } = (await trial.run(['archive', 'list', '--json'])).json
    const checked = async () =>
      (await trial.run(['doctor', '--json'])).json.checks.find(({ name }: { name: string }) => name === 'archives')
    expect(await checked()).toMatchObject({ ok: true, detail: '1 file, each at its full length.' })
    writeFileSync(archives[0].path, readFileSync(archives[0].path).subarray(0, 10))
    for (const command of [['recall'], ['archive', 'search']]) {
      expect(await trial.run([...command, 'tax'])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(id),
      })
      expect((await trial.run([...command, 'tax', '--json'])).json).toMatchObject({ hits: [], unreadable: [id] })
    }
    expect(await checked()).toMatchObject({ ok: false, fix: expect.stringContaining('archive verify') })
    expect((await trial.run(['archive', 'forget', id])).stdout).toContain('Forgot 1 archive')
    expect(await checked()).toMatchObject({ ok: true, detail: 'None.' })
  })
})
