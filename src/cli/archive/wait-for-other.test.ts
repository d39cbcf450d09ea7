import { describe, expect, it } from 'vitest'
import { line, newTrial } from '../../archive/trial.js'
import { processInfo } from '../../lib/process-info.js'
import { waitForOther } from './wait-for-other.js'

/** An archive that waits, because a living process has its name on an older one of the session. */
function held() {
  const trial = newTrial()
  trial.write('s1', line({ by: 'user', text: 'one' }))
  const older = trial.plan('s1')!
  const { archiveId } = trial.plan('s1')!
  // This process's parent lives as long as the test.
  const { pid, startedAt } = processInfo(process.ppid)!
  trial.store.transaction(() => trial.store.putArchive({ ...older, lease: { pid, startedAt } }))
  trial.archives.finish()
  expect(trial.store.archive(archiveId)!.status).toBe('pending')
  return { trial, older, archiveId, store: trial.store, finish: () => void trial.archives.finish() }
}

describe('waiting for another process', () => {
  it('ends when that one has let go, with the archive kept', async () => {
    const { older, store, archiveId, finish } = held()
    let told = 0
    const tell = (): void => {
      told++
      store.transaction(() => store.putArchive({ ...store.archive(older.archiveId)!, lease: null }))
    }
    expect(await waitForOther({ store, archiveId, finish, tell, mostMs: 20_000 })).toMatchObject({ status: 'kept' })
    expect(told).toBe(1)
    expect(store.archive(older.archiveId)).toMatchObject({ status: 'kept' })
  })

  it('ends after a while, with the archive as it is', async () => {
    const { store, archiveId, finish } = held()
    let told = 0
    const tell = (): void => void told++
    expect(await waitForOther({ store, archiveId, finish, tell, mostMs: 600 })).toMatchObject({ status: 'pending' })
    expect(told).toBe(1)
  })

  it('ends when the archive is forgotten', async () => {
    const { trial, store, archiveId, finish } = held()
    const tell = (): void => void trial.archives.remove(store.archives())
    expect(await waitForOther({ store, archiveId, finish, tell, mostMs: 20_000 })).toBeNull()
  })

  it('does not wait for what is settled', async () => {
    const { trial, store, finish } = held()
    trial.write('s2', line({ by: 'user', text: 'two' }))
    const { archiveId } = trial.keep('s2')
    const tell = (): never => expect.fail('nothing to wait for')
    expect(await waitForOther({ store, archiveId, finish, tell })).toMatchObject({ status: 'kept' })
  })
})
