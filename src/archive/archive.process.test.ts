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
import { line, newTrial } from '../testing/archive-home.js'

const sha = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')
const prompt = (text: string): string => line({ by: 'user', text })
const noise = (bytes: number): string => line({ out: randomBytes(bytes / 2).toString('hex') })

describe('creating an archive', () => {
  test('an archive holds the transcript as it was when it was planned, without lines written later', () => {
    const trial = newTrial()
    const before = prompt('first') + noise(700_000)
    trial.write('s1', before)
    const planned = trial.plan('s1')!
    trial.write('s1', prompt('after the compaction'))
    const [kept] = trial.archives.finish()
    expect(kept).toMatchObject({ archiveId: planned.archiveId, status: 'kept', lease: null, reason: null })
    expect(kept!.parts[0]).toMatchObject({ bytes: before.length, sha256: sha(before), link: null })
    expect(trial.restored(kept!).equals(Buffer.from(before))).toBe(true)
    expect(trial.files()).toEqual(['s1_20260301T100000.001007Z_auto.jsonl.br'])
    expect(trial.links()).toEqual([])
    expect(trial.archives.finish()).toEqual([])
  })

  test('an archive is readable by its owner alone, whatever the umask is', () => {
    const umask = process.umask(0)
    try {
      const trial = newTrial()
      trial.write('s1', prompt('secret'))
      trial.plan('s1')
      const mode = (path: string): number => statSync(path).mode & 0o777
      expect([mode(trial.places.folder), mode(trial.places.links)]).toEqual([0o700, 0o700])
      trial.archives.finish()
      for (const file of trial.files()) expect(mode(join(trial.places.folder, file))).toBe(0o600)
      expect(trial.archives.search({ query: 'secret', limit: 5 })).toHaveLength(1)
      for (const end of ['', '-wal', '-shm']) expect(mode(trial.places.index + end)).toBe(0o600)
    } finally {
      process.umask(umask)
    }
  })

  test('an archive includes the transcripts of subagents and skips those that cannot be read', () => {
    const trial = newTrial()
    trial.write('s1', prompt('main'))
    trial.write('agent-a', prompt('of a'))
    trial.write('agent-c', '')
    const kept = trial.keep('s1', { subagents: ['agent-a', 'agent-b', 'agent-c'] })
    expect(kept.status).toBe('kept')
    expect(kept.parts.map(({ name, trouble }) => [name, trouble])).toEqual([
      ['', null],
      ['agent-a', null],
      ['agent-b', 'the transcript is not there'],
      ['agent-c', null],
    ])
    expect(trial.restored(kept, 1).toString()).toBe(prompt('of a'))
    expect(trial.restored(kept, 3)).toHaveLength(0)
    expect(trial.files()).toEqual([
      expect.stringMatching(/_auto\.jsonl\.br$/),
      expect.stringMatching(/_auto_agent-a\.jsonl\.br$/),
    ])
  })

  test('an archive stops at the size the signal reported if the transcript has grown since', () => {
    const trial = newTrial()
    trial.write('s1', prompt('one') + prompt('two'))
    const kept = trial.keep('s1', { bytes: prompt('one').length })
    expect(trial.restored(kept).toString()).toBe(prompt('one'))
  })

  test('a session id with unusual characters gives a file name that every file system accepts', () => {
    const trial = newTrial()
    const ids = ['../../etc/passwd', 'a b', 'a\tb', 'ünï', '会话', '.', '', 'x'.repeat(300), "'; rm -rf", 'a_b']
    const path = trial.write('odd', prompt('x'))
    for (const id of ids) trial.keep(id, { transcript: path, project: `/p/${id}\u0000"` })
    expect(new Set(trial.files()).size).toBe(ids.length)
    for (const file of trial.files())
      expect(file).toMatch(/^[A-Za-z0-9-][\w.-]{0,150}_20260301T100000\.\d{6}Z_auto\.jsonl\.br$/)
    for (const id of ids) expect(trial.store.archives({ sessionId: id })).toHaveLength(1)
    expect(trial.archives.verify(trial.store.archives())).toMatchObject({ extra: [] })
  })

  test('two archives of the same moment get different names', () => {
    const trial = newTrial({ now: () => new Date('2026-03-01T10:00:00.000Z') })
    trial.write('s1', prompt('x'))
    const stems = [1, 2, 3].map(() => trial.plan('s1')!.stem)
    expect(stems).toEqual([
      's1_20260301T100000.000007Z_auto',
      's1_20260301T100000.000008Z_auto',
      's1_20260301T100000.000009Z_auto',
    ])
    expect(trial.archives.finish()).toHaveLength(3)
  })

  test('all files of a session together can be unpacked without Baton', () => {
    const trial = newTrial()
    const text = noise(600_000)
    trial.write('s1', text)
    trial.keep('s1')
    trial.write('s1', prompt('more'))
    trial.keep('s1')
    const files = trial.files().map((file) => readFileSync(join(trial.places.folder, file)))
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
    const trial = newTrial()
    const path = trial.write('s1', '')
    rmSync(path)
    prepare(path)
    const planned = trial.plan('s1')!
    trial.archives.finish()
    const after = trial.store.archive(planned.archiveId)!
    expect(trial.store.openArchives()).toEqual([])
    return [after.status, after.reason]
  }

  test('a missing transcript, a folder, a pipe and a link out of its folder are each reported', () => {
    expect(reasonOf(() => {})).toEqual(['failed', 'the transcript is not there'])
    expect(reasonOf((path) => mkdirSync(path))).toEqual(['failed', 'the transcript is a folder'])
    expect(reasonOf((path) => execFileSync('mkfifo', [path]))).toEqual(['failed', 'the transcript is a pipe'])
    expect(reasonOf((path) => symlinkSync('/etc/hostname', path))).toEqual([
      'failed',
      'the transcript is a symbolic link that leads out of its folder',
    ])
    expect(reasonOf((path) => symlinkSync('/nowhere/at/all', path))).toEqual(['failed', 'the transcript is not there'])
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
    const trial = newTrial()
    const real = trial.write('real', prompt('x'))
    symlinkSync(real, trial.path('s1'))
    expect(trial.restored(trial.keep('s1')).toString()).toBe(prompt('x'))
  })

  test('an empty transcript is kept without a file', () => {
    const trial = newTrial()
    trial.write('s1', '')
    const kept = trial.keep('s1')
    expect(kept).toMatchObject({ status: 'kept', parts: [{ bytes: 0, sha256: sha('') }] })
    expect(trial.restored(kept)).toHaveLength(0)
    expect(trial.archives.view([kept])[0]).toMatchObject({ path: null, stored_bytes: 0 })
  })

  test('a session that never began has no transcript at its end, and no failed archive', () => {
    const trial = newTrial()
    expect(trial.plan('s1', { trigger: 'session-end' })).toBeNull()
    expect(trial.plan('s1', { trigger: 'session-end', transcript: null })).toBeNull()
    expect(trial.store.archives()).toEqual([])
  })

  test('a transcript without a final newline and with a line of 50 MB is kept exactly and searchable', () => {
    const trial = newTrial()
    const long = line({ out: `needle-at-the-start ${'lorem ipsum '.repeat(4_300_000)} needle-at-the-end` })
    const text = `${prompt('before')}${long}${prompt('after').trimEnd()}`
    trial.write('s1', text)
    const kept = trial.keep('s1')
    expect(sha(trial.restored(kept))).toBe(sha(text))
    const found = (query: string) => trial.archives.search({ query, limit: 5 }).map(({ line: at, kind }) => [at, kind])
    expect(found('needle start')).toEqual([[2, 'result']])
    expect(found('"needle at the end"')).toEqual([[2, 'result']])
    expect(found('after')).toEqual([[3, 'prompt']])
  })

  test('a transcript removed after planning is kept, because a hard link protects it', () => {
    const trial = newTrial()
    trial.write('s1', prompt('x'))
    const planned = trial.plan('s1')!
    rmSync(trial.path('s1'))
    trial.archives.finish()
    expect(trial.restored(planned).toString()).toBe(prompt('x'))
  })

  test('a transcript replaced after planning is kept as it was planned', () => {
    const trial = newTrial()
    trial.write('s1', prompt('x'))
    const planned = trial.plan('s1')!
    trial.write('other', prompt('something else that is longer'))
    renameSync(trial.path('other'), trial.path('s1'))
    trial.archives.finish()
    expect(trial.restored(planned).toString()).toBe(prompt('x'))
  })

  const lost = (after: (path: string) => void, unlinked: boolean): string | null => {
    const trial = newTrial()
    trial.write('s1', prompt('x').repeat(100))
    const planned = trial.plan('s1')!
    if (unlinked) rmSync(join(trial.places.links, planned.parts[0]!.link!))
    after(trial.path('s1'))
    trial.archives.finish()
    const { status, reason, retryAt } = trial.store.archive(planned.archiveId)!
    expect([status, retryAt]).toEqual(['failed', null])
    expect([...trial.files(), ...trial.links()]).toEqual([])
    return reason
  }

  test('a transcript truncated, rewritten or removed before copying is reported, and nothing is kept', () => {
    expect(lost((path) => truncateSync(path, 10), false)).toBe('the transcript became shorter before it was kept')
    expect(lost((path) => writeFileSync(path, 'y'.repeat(10_000)), false)).toBe(
      'the transcript was rewritten before it was kept',
    )
    expect(lost((path) => rmSync(path), true)).toBe('the transcript was removed before it was kept')
    expect(lost((path) => writeFileSync(path, 'y'.repeat(10_000)), true)).toBe(
      'the transcript was rewritten before it was kept',
    )
  })
})

describe('archives of a growing transcript', () => {
  test('archives of a growing transcript share common bytes, and each restores its own', () => {
    const trial = newTrial()
    const stages: { record: ReturnType<typeof trial.keep>; text: string }[] = []
    let text = ''
    for (let i = 0; i < 6; i++) {
      const more = noise(300_000 + i * 1000) + prompt(`stage ${i}`)
      trial.write('s1', more)
      text += more
      stages.push({ record: trial.keep('s1'), text })
    }
    const views = trial.archives.view(trial.store.archives())
    const disk = trial.files().reduce((sum, file) => sum + statSync(join(trial.places.folder, file)).size, 0)
    expect(views.reduce((sum, view) => sum + view.stored_bytes, 0)).toBe(disk)
    expect(disk).toBeLessThan(text.length * 0.6)
    for (const { record, text: wanted } of stages) {
      expect(sha(trial.restored(record))).toBe(sha(wanted))
      expect(record.parts[0]!.sha256).toBe(sha(wanted))
    }
    expect(new Set(trial.store.segments().map(({ streamId }) => streamId)).size).toBe(1)
  })

  test('a second archive of an unchanged transcript stores nothing', () => {
    const trial = newTrial()
    trial.write('s1', prompt('x'))
    const first = trial.keep('s1')
    const second = trial.keep('s1', { trigger: 'manual' })
    expect(trial.files()).toHaveLength(1)
    expect(trial.restored(second)).toEqual(trial.restored(first))
    expect(trial.archives.view([second])[0]).toMatchObject({
      stored_bytes: 0,
      path: expect.stringContaining('_auto.jsonl.br'),
    })
  })

  test('an archive is a full copy again after its transcript was rewritten', () => {
    const trial = newTrial()
    trial.write('s1', noise(400_000))
    const first = trial.keep('s1')
    const before = trial.restored(first)
    trial.overwrite('s1', `${prompt('all new')}${noise(500_000)}`)
    const after = readFileSync(trial.path('s1'))
    const second = trial.keep('s1')
    appendFileSync(trial.path('s1'), prompt('and more'))
    const third = trial.keep('s1')
    expect(trial.restored(first).equals(before)).toBe(true)
    expect(trial.restored(second).equals(after)).toBe(true)
    expect(sha(trial.restored(third))).toBe(sha(after.toString() + prompt('and more')))
    expect(trial.archives.view([third])[0]!.stored_bytes).toBeLessThan(1_000)
  })

  test('archives planned in one order and copied in another still restore their own bytes', () => {
    const trial = newTrial()
    trial.write('s1', prompt('one'))
    const early = trial.plan('s1')!
    trial.write('s1', prompt('two'))
    const late = trial.plan('s1')!
    // Simulates that copying the early archive failed for a while.
    trial.store.putArchive({
      ...early,
      status: 'failed',
      reason: 'full',
      retryAt: '2026-03-01T11:00:00.000Z',
      attempts: 1,
    })
    trial.archives.finish()
    expect(trial.store.archive(early.archiveId)!.status).toBe('failed')
    trial.pass(2 * 3_600_000)
    trial.archives.finish()
    expect(trial.restored(early).toString()).toBe(prompt('one'))
    expect(trial.restored(late).toString()).toBe(prompt('one') + prompt('two'))
    expect(trial.files()).toHaveLength(1)
  })

  test('a line cut in the middle by an archive is indexed once, when it is complete', () => {
    const trial = newTrial()
    const whole = prompt('a wandering albatross')
    trial.write('s1', prompt('zero') + whole.slice(0, 20))
    trial.keep('s1')
    const hits = () => trial.archives.search({ query: 'albatross', limit: 9 }).map(({ line: at }) => at)
    expect(hits()).toEqual([])
    trial.write('s1', whole.slice(20, -1))
    trial.keep('s1')
    expect(hits()).toEqual([2])
    trial.write('s1', `\n${prompt('an albatross again')}`)
    trial.keep('s1')
    expect(hits().sort()).toEqual([2, 3])
  })
})

describe('disk errors', () => {
  test('an unusable archive folder is reported and retried a limited number of times', () => {
    const trial = newTrial()
    writeFileSync(trial.places.folder, 'in the way')
    trial.write('s1', prompt('x'))
    const planned = trial.plan('s1')!
    expect(planned).toMatchObject({ status: 'pending', parts: [{ link: null }] })
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(trial.archives.hasWork()).toBe(true)
      trial.archives.finish()
      const { status, attempts, retryAt } = trial.store.archive(planned.archiveId)!
      expect([status, attempts]).toEqual(['failed', attempt])
      expect(retryAt === null).toBe(attempt === 5)
      trial.archives.finish()
      expect(trial.store.archive(planned.archiveId)!.attempts).toBe(attempt)
      trial.pass(24 * 3_600_000)
    }
    expect(trial.archives.hasWork()).toBe(false)
  })

  test('a retry that finds free space keeps the archive', () => {
    const trial = newTrial()
    writeFileSync(trial.places.folder, 'in the way')
    trial.write('s1', prompt('x'))
    const planned = trial.keep('s1')
    expect(planned.status).toBe('failed')
    rmSync(trial.places.folder)
    trial.pass(3_600_000)
    trial.archives.finish()
    expect(trial.restored(planned).toString()).toBe(prompt('x'))
  })

  test('a file renamed into place just before its process died is written again', () => {
    const trial = newTrial()
    trial.write('s1', prompt('x'))
    const planned = trial.plan('s1')!
    writeFileSync(join(trial.places.folder, `${planned.stem}.jsonl.br`), 'half')
    writeFileSync(join(trial.places.folder, `.${planned.stem}.jsonl.br.baton-999999-1`), 'half')
    trial.store.putArchive({ ...planned, lease: { pid: 999_999, startedAt: '1' } })
    trial.archives.finish()
    expect(trial.restored(planned).toString()).toBe(prompt('x'))
    expect(trial.files()).toEqual([`${planned.stem}.jsonl.br`])
  })

  test('hard links of plans that were never stored are removed after a while, and other links stay', () => {
    const trial = newTrial({ now: () => new Date(Date.now() + 3_600_000) })
    trial.write('s1', prompt('x'))
    trial.keep('s1')
    linkSync(trial.path('s1'), join(trial.places.links, 'arc_dead.0'))
    trial.keep('s1')
    expect(trial.links()).toEqual([])
  })
})
