import { rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createArchiveHome, jsonLine } from '../testing/archive-home.js'

function logging() {
  const logged: [level: string, text: string, fields: Record<string, unknown>][] = []
  const fixture = createArchiveHome({ log: (level, text, fields = {}) => void logged.push([level, text, fields]) })
  return { ...fixture, logged }
}

test('a kept archive is logged as info with its size and its size on the disk', () => {
  const fixture = logging()
  fixture.write('s1', jsonLine({ text: 'hello' }))
  const planned = fixture.plan('s1')!
  fixture.archives.finish()
  const stored = fixture.store.segments()[0]!.storedBytes
  expect(fixture.logged).toEqual([
    [
      'info',
      'a transcript was archived',
      { session: 's1', archive: planned.archiveId, trigger: 'auto', bytes: 17, stored_bytes: stored },
    ],
  ])
})

test('a missing transcript is logged as a warning with its path', () => {
  const fixture = logging()
  fixture.plan('s1')
  expect(fixture.logged).toMatchObject([
    [
      'warn',
      'a transcript could not be archived',
      { session: 's1', path: fixture.path('s1'), reason: 'the transcript does not exist' },
    ],
  ])
})

test('a transcript removed before it was copied is logged as a warning', () => {
  const fixture = logging()
  const path = fixture.write('s1', jsonLine({ text: 'hello' }))
  fixture.plan('s1')
  rmSync(path)
  rmSync(fixture.places.links, { recursive: true })
  fixture.archives.finish()
  expect(fixture.logged).toMatchObject([
    ['warn', 'a transcript could not be archived', { reason: 'the transcript was removed before it was archived' }],
  ])
})

test('an archive that cannot be written is logged as an error with the time of the next try', () => {
  const fixture = logging()
  fixture.write('s1', jsonLine({ text: 'hello' }))
  fixture.plan('s1')
  rmSync(fixture.places.folder, { recursive: true })
  writeFileSync(fixture.places.folder, 'a file in its place')
  fixture.archives.finish()
  expect(fixture.logged[0]).toMatchObject([
    'error',
    'an archive could not be written',
    { session: 's1', again: fixture.store.archives()[0]!.retryAt },
  ])
  expect(fixture.store.archives()[0]!.retryAt).not.toBeNull()
})
