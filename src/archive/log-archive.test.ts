import { rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { line, newTrial } from '../testing/archive-home.js'

function logging() {
  const logged: [level: string, text: string, fields: Record<string, unknown>][] = []
  const trial = newTrial({ log: (level, text, fields = {}) => void logged.push([level, text, fields]) })
  return { ...trial, logged }
}

test('a kept archive is logged as info with its size and its size on the disk', () => {
  const trial = logging()
  trial.write('s1', line({ text: 'hello' }))
  const planned = trial.plan('s1')!
  trial.archives.finish()
  const stored = trial.store.segments()[0]!.storedBytes
  expect(trial.logged).toEqual([
    [
      'info',
      'a transcript was archived',
      { session: 's1', archive: planned.archiveId, trigger: 'auto', bytes: 17, stored_bytes: stored },
    ],
  ])
})

test('a missing transcript is logged as a warning with its path', () => {
  const trial = logging()
  trial.plan('s1')
  expect(trial.logged).toMatchObject([
    [
      'warn',
      'a transcript could not be archived',
      { session: 's1', path: trial.path('s1'), reason: 'the transcript is not there' },
    ],
  ])
})

test('a transcript removed before it was copied is logged as a warning', () => {
  const trial = logging()
  const path = trial.write('s1', line({ text: 'hello' }))
  trial.plan('s1')
  rmSync(path)
  rmSync(trial.places.links, { recursive: true })
  trial.archives.finish()
  expect(trial.logged).toMatchObject([
    ['warn', 'a transcript could not be archived', { reason: 'the transcript was removed before it was kept' }],
  ])
})

test('an archive that cannot be written is logged as an error with the time of the next try', () => {
  const trial = logging()
  trial.write('s1', line({ text: 'hello' }))
  trial.plan('s1')
  rmSync(trial.places.folder, { recursive: true })
  writeFileSync(trial.places.folder, 'a file in its place')
  trial.archives.finish()
  expect(trial.logged[0]).toMatchObject([
    'error',
    'an archive could not be written',
    { session: 's1', again: trial.store.archives()[0]!.retryAt },
  ])
  expect(trial.store.archives()[0]!.retryAt).not.toBeNull()
})
