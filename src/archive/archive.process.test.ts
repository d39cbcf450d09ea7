import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createArchiveHome, jsonLine } from '../testing/archive-home.js'

const sha = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')
const prompt = (text: string): string => jsonLine({ by: 'user', text })
const noise = (bytes: number): string => jsonLine({ out: randomBytes(bytes / 2).toString('hex') })

describe('creating an archive', () => {
  test('an archive holds the transcript as it was when it was planned, without lines written later', () => {
    const fixture = createArchiveHome()
    const before = prompt('first') + noise(700_000)
    fixture.write('s1', before)
    const planned = fixture.plan('s1')!
    fixture.write('s1', prompt('after the compaction'))
    const [kept] = fixture.archives.finish()
    expect(kept).toMatchObject({ archiveId: planned.archiveId, status: 'kept', lease: null, reason: null })
    expect(kept!.parts[0]).toMatchObject({ bytes: before.length, sha256: sha(before), link: null })
    expect(fixture.restored(kept!).equals(Buffer.from(before))).toBe(true)
    expect(fixture.files()).toEqual(['s1_20260301T100000.001007Z_auto.jsonl.br'])
    expect(fixture.links()).toEqual([])
    expect(fixture.archives.finish()).toEqual([])
  })

  test('an archive is readable by its owner alone, whatever the umask is', () => {
    const umask = process.umask(0)
    try {
      const fixture = createArchiveHome()
      fixture.write('s1', prompt('secret'))
      fixture.plan('s1')
      const mode = (path: string): number => statSync(path).mode & 0o777
      expect([mode(fixture.places.folder), mode(fixture.places.links)]).toEqual([0o700, 0o700])
      fixture.archives.finish()
      for (const file of fixture.files()) expect(mode(join(fixture.places.folder, file))).toBe(0o600)
      expect(fixture.archives.search({ query: 'secret', limit: 5 })).toHaveLength(1)
      for (const end of ['', '-wal', '-shm']) expect(mode(fixture.places.index + end)).toBe(0o600)
    } finally {
      process.umask(umask)
    }
  })

  test('an archive includes the transcripts of subagents and skips those that cannot be read', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('main'))
    fixture.write('agent-a', prompt('of a'))
    fixture.write('agent-c', '')
    const kept = fixture.keep('s1', { subagents: ['agent-a', 'agent-b', 'agent-c'] })
    expect(kept.status).toBe('kept')
    expect(kept.parts.map(({ name, trouble }) => [name, trouble])).toEqual([
      ['', null],
      ['agent-a', null],
      ['agent-b', 'the transcript does not exist'],
      ['agent-c', null],
    ])
    expect(fixture.restored(kept, 1).toString()).toBe(prompt('of a'))
    expect(fixture.restored(kept, 3)).toHaveLength(0)
    expect(fixture.files()).toEqual([
      expect.stringMatching(/_auto\.jsonl\.br$/),
      expect.stringMatching(/_auto_agent-a\.jsonl\.br$/),
    ])
  })

  test('an archive stops at the size the signal reported if the transcript has grown since', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('one') + prompt('two'))
    const kept = fixture.keep('s1', { bytes: prompt('one').length })
    expect(fixture.restored(kept).toString()).toBe(prompt('one'))
  })

  test('a session id with unusual characters gives a file name that every file system accepts', () => {
    const fixture = createArchiveHome()
    const ids = ['../../etc/passwd', 'a b', 'a\tb', 'ünï', '会话', '.', '', 'x'.repeat(300), "'; rm -rf", 'a_b']
    const path = fixture.write('odd', prompt('x'))
    for (const id of ids) fixture.keep(id, { transcript: path, project: `/p/${id}\u0000"` })
    expect(new Set(fixture.files()).size).toBe(ids.length)
    for (const file of fixture.files())
      expect(file).toMatch(/^[A-Za-z0-9-][\w.-]{0,150}_20260301T100000\.\d{6}Z_auto\.jsonl\.br$/)
    for (const id of ids) expect(fixture.store.archives({ sessionId: id })).toHaveLength(1)
    expect(fixture.archives.verify(fixture.store.archives())).toMatchObject({ extra: [] })
  })

  test('two archives of the same moment get different names', () => {
    const fixture = createArchiveHome({ now: () => new Date('2026-03-01T10:00:00.000Z') })
    fixture.write('s1', prompt('x'))
    const stems = [1, 2, 3].map(() => fixture.plan('s1')!.stem)
    expect(stems).toEqual([
      's1_20260301T100000.000007Z_auto',
      's1_20260301T100000.000008Z_auto',
      's1_20260301T100000.000009Z_auto',
    ])
    expect(fixture.archives.finish()).toHaveLength(3)
  })

  test('all files of a session together can be unpacked without Baton', () => {
    const fixture = createArchiveHome()
    const text = noise(600_000)
    fixture.write('s1', text)
    fixture.keep('s1')
    fixture.write('s1', prompt('more'))
    fixture.keep('s1')
    const files = fixture.files().map((file) => readFileSync(join(fixture.places.folder, file)))
    let unpacked = ''
    for (let rest = Buffer.concat(files); rest.length > 0; ) {
      const { buffer, engine } = brotliDecompressSync(rest, { info: true } as object) as unknown as {
        buffer: Buffer
        engine: { bytesWritten: number }
      }
      unpacked += buffer.toString('latin1')
      rest = rest.subarray(engine.bytesWritten)
    }
    expect(unpacked).toBe(text + prompt('more'))
  })
})

describe('a transcript in an unexpected state', () => {
  const reasonOf = (prepare: (path: string) => void): [string, string | null] => {
    const fixture = createArchiveHome()
    const path = fixture.write('s1', '')
    rmSync(path)
    prepare(path)
    const planned = fixture.plan('s1')!
    fixture.archives.finish()
    const after = fixture.store.archive(planned.archiveId)!
    expect(fixture.store.openArchives()).toEqual([])
    return [after.status, after.reason]
  }

  test('a missing transcript, a folder, a pipe and a link out of its folder are each reported', () => {
    expect(reasonOf(() => {})).toEqual(['failed', 'the transcript does not exist'])
    expect(reasonOf((path) => mkdirSync(path))).toEqual(['failed', 'the transcript is a folder'])
    expect(reasonOf((path) => execFileSync('mkfifo', [path]))).toEqual(['failed', 'the transcript is a pipe'])
    expect(reasonOf((path) => symlinkSync('/etc/hostname', path))).toEqual([
      'failed',
      'the transcript is a symbolic link to another folder',
    ])
    expect(reasonOf((path) => symlinkSync('/nowhere/at/all', path))).toEqual([
      'failed',
      'the transcript does not exist',
    ])
  })

  test.skipIf(process.getuid?.() === 0)('an unreadable transcript is reported', () => {
    expect(
      reasonOf((path) => {
        writeFileSync(path, 'x')
        chmodSync(path, 0)
      }),
    ).toEqual(['failed', 'the transcript cannot be read (EACCES)'])
  })

  test('a symbolic link that stays in its folder is followed', () => {
    const fixture = createArchiveHome()
    const real = fixture.write('real', prompt('x'))
    symlinkSync(real, fixture.path('s1'))
    expect(fixture.restored(fixture.keep('s1')).toString()).toBe(prompt('x'))
  })

  test('an empty transcript is kept without a file', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', '')
    const kept = fixture.keep('s1')
    expect(kept).toMatchObject({ status: 'kept', parts: [{ bytes: 0, sha256: sha('') }] })
    expect(fixture.restored(kept)).toHaveLength(0)
    expect(fixture.archives.view([kept])[0]).toMatchObject({ path: null, stored_bytes: 0 })
  })

  test('a session that never began has no transcript at its end, and no failed archive', () => {
    const fixture = createArchiveHome()
    expect(fixture.plan('s1', { trigger: 'session-end' })).toBeNull()
    expect(fixture.plan('s1', { trigger: 'session-end', transcript: null })).toBeNull()
    expect(fixture.store.archives()).toEqual([])
  })

  test('a transcript without a final newline and with a line of 50 MB is kept exactly and searchable', () => {
    const fixture = createArchiveHome()
    const long = jsonLine({ out: `needle-at-the-start ${'lorem ipsum '.repeat(4_300_000)} needle-at-the-end` })
    const text = `${prompt('before')}${long}${prompt('after').trimEnd()}`
    fixture.write('s1', text)
    const kept = fixture.keep('s1')
    expect(sha(fixture.restored(kept))).toBe(sha(text))
    const found = (query: string) =>
      fixture.archives.search({ query, limit: 5 }).map(({ line: at, kind }) => [at, kind])
    expect(found('needle start')).toEqual([[2, 'result']])
    expect(found('"needle at the end"')).toEqual([[2, 'result']])
    expect(found('after')).toEqual([[3, 'prompt']])
  })

  test('a transcript removed after planning is kept, because a hard link protects it', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('x'))
    const planned = fixture.plan('s1')!
    rmSync(fixture.path('s1'))
    fixture.archives.finish()
    expect(fixture.restored(planned).toString()).toBe(prompt('x'))
  })

  test('a transcript replaced after planning is kept as it was planned', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('x'))
    const planned = fixture.plan('s1')!
    fixture.write('other', prompt('something else that is longer'))
    renameSync(fixture.path('other'), fixture.path('s1'))
    fixture.archives.finish()
    expect(fixture.restored(planned).toString()).toBe(prompt('x'))
  })

  const lost = (after: (path: string) => void, unlinked: boolean): string | null => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('x').repeat(100))
    const planned = fixture.plan('s1')!
    if (unlinked) rmSync(join(fixture.places.links, planned.parts[0]!.link!))
    after(fixture.path('s1'))
    fixture.archives.finish()
    const { status, reason, retryAt } = fixture.store.archive(planned.archiveId)!
    expect([status, retryAt]).toEqual(['failed', null])
    expect([...fixture.files(), ...fixture.links()]).toEqual([])
    return reason
  }

  test('a transcript truncated, rewritten or removed before copying is reported, and nothing is kept', () => {
    expect(lost((path) => truncateSync(path, 10), false)).toBe('the transcript became shorter before it was archived')
    expect(lost((path) => writeFileSync(path, 'y'.repeat(10_000)), false)).toBe(
      'the transcript was rewritten before it was archived',
    )
    expect(lost((path) => rmSync(path), true)).toBe('the transcript was removed before it was archived')
    expect(lost((path) => writeFileSync(path, 'y'.repeat(10_000)), true)).toBe(
      'the transcript was rewritten before it was archived',
    )
  })
})

describe('archives of a growing transcript', () => {
  test('archives of a growing transcript share common bytes, and each restores its own', () => {
    const fixture = createArchiveHome()
    const stages: { record: ReturnType<typeof fixture.keep>; text: string }[] = []
    let text = ''
    for (let i = 0; i < 6; i++) {
      const more = noise(300_000 + i * 1000) + prompt(`stage ${i}`)
      fixture.write('s1', more)
      text += more
      stages.push({ record: fixture.keep('s1'), text })
    }
    const views = fixture.archives.view(fixture.store.archives())
    const disk = fixture.files().reduce((sum, file) => sum + statSync(join(fixture.places.folder, file)).size, 0)
    expect(views.reduce((sum, view) => sum + view.stored_bytes, 0)).toBe(disk)
    expect(disk).toBeLessThan(text.length * 0.6)
    for (const { record, text: wanted } of stages) {
      expect(sha(fixture.restored(record))).toBe(sha(wanted))
      expect(record.parts[0]!.sha256).toBe(sha(wanted))
    }
    expect(new Set(fixture.store.segments().map(({ streamId }) => streamId)).size).toBe(1)
  })

  test('a second archive of an unchanged transcript stores nothing', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('x'))
    const first = fixture.keep('s1')
    const second = fixture.keep('s1', { trigger: 'manual' })
    expect(fixture.files()).toHaveLength(1)
    expect(fixture.restored(second)).toEqual(fixture.restored(first))
    expect(fixture.archives.view([second])[0]).toMatchObject({
      stored_bytes: 0,
      path: expect.stringContaining('_auto.jsonl.br'),
    })
  })

  test('an archive is a full copy again after its transcript was rewritten', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', noise(400_000))
    const first = fixture.keep('s1')
    const before = fixture.restored(first)
    fixture.overwrite('s1', `${prompt('all new')}${noise(500_000)}`)
    const after = readFileSync(fixture.path('s1'))
    const second = fixture.keep('s1')
    appendFileSync(fixture.path('s1'), prompt('and more'))
    const third = fixture.keep('s1')
    expect(fixture.restored(first).equals(before)).toBe(true)
    expect(fixture.restored(second).equals(after)).toBe(true)
    expect(sha(fixture.restored(third))).toBe(sha(after.toString() + prompt('and more')))
    expect(fixture.archives.view([third])[0]!.stored_bytes).toBeLessThan(1_000)
  })

  test('archives planned in one order and copied in another still restore their own bytes', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('one'))
    const early = fixture.plan('s1')!
    fixture.write('s1', prompt('two'))
    const late = fixture.plan('s1')!
    // Simulates that copying the early archive failed for a while.
    fixture.store.putArchive({
      ...early,
      status: 'failed',
      reason: 'full',
      retryAt: '2026-03-01T11:00:00.000Z',
      attempts: 1,
    })
    fixture.archives.finish()
    expect(fixture.store.archive(early.archiveId)!.status).toBe('failed')
    fixture.pass(2 * 3_600_000)
    fixture.archives.finish()
    expect(fixture.restored(early).toString()).toBe(prompt('one'))
    expect(fixture.restored(late).toString()).toBe(prompt('one') + prompt('two'))
    expect(fixture.files()).toHaveLength(1)
  })

  test('a line cut in the middle by an archive is indexed once, when it is complete', () => {
    const fixture = createArchiveHome()
    const whole = prompt('a wandering albatross')
    fixture.write('s1', prompt('zero') + whole.slice(0, 20))
    fixture.keep('s1')
    const hits = () => fixture.archives.search({ query: 'albatross', limit: 9 }).map(({ line: at }) => at)
    expect(hits()).toEqual([])
    fixture.write('s1', whole.slice(20, -1))
    fixture.keep('s1')
    expect(hits()).toEqual([2])
    fixture.write('s1', `\n${prompt('an albatross again')}`)
    fixture.keep('s1')
    expect(hits().sort()).toEqual([2, 3])
  })
})

describe('disk errors', () => {
  test('an unusable archive folder is reported and retried a limited number of times', () => {
    const fixture = createArchiveHome()
    writeFileSync(fixture.places.folder, 'in the way')
    fixture.write('s1', prompt('x'))
    const planned = fixture.plan('s1')!
    expect(planned).toMatchObject({ status: 'pending', parts: [{ link: null }] })
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(fixture.archives.hasWork()).toBe(true)
      fixture.archives.finish()
      const { status, attempts, retryAt } = fixture.store.archive(planned.archiveId)!
      expect([status, attempts]).toEqual(['failed', attempt])
      expect(retryAt === null).toBe(attempt === 5)
      fixture.archives.finish()
      expect(fixture.store.archive(planned.archiveId)!.attempts).toBe(attempt)
      fixture.pass(24 * 3_600_000)
    }
    expect(fixture.archives.hasWork()).toBe(false)
  })

  test('a retry that finds free space keeps the archive', () => {
    const fixture = createArchiveHome()
    writeFileSync(fixture.places.folder, 'in the way')
    fixture.write('s1', prompt('x'))
    const planned = fixture.keep('s1')
    expect(planned.status).toBe('failed')
    rmSync(fixture.places.folder)
    fixture.pass(3_600_000)
    fixture.archives.finish()
    expect(fixture.restored(planned).toString()).toBe(prompt('x'))
  })

  test('a file renamed into place just before its process died is written again', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', prompt('x'))
    const planned = fixture.plan('s1')!
    writeFileSync(join(fixture.places.folder, `${planned.stem}.jsonl.br`), 'half')
    writeFileSync(join(fixture.places.folder, `.${planned.stem}.jsonl.br.baton-999999-1`), 'half')
    fixture.store.putArchive({ ...planned, lease: { pid: 999_999, startedAt: '1' } })
    fixture.archives.finish()
    expect(fixture.restored(planned).toString()).toBe(prompt('x'))
    expect(fixture.files()).toEqual([`${planned.stem}.jsonl.br`])
  })

  test('hard links of plans that were never stored are removed after a while, and other links stay', () => {
    const fixture = createArchiveHome({ now: () => new Date(Date.now() + 3_600_000) })
    fixture.write('s1', prompt('x'))
    fixture.keep('s1')
    linkSync(fixture.path('s1'), join(fixture.places.links, 'arc_dead.0'))
    fixture.keep('s1')
    expect(fixture.links()).toEqual([])
  })
})
