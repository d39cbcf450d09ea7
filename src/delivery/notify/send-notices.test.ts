import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NoticeRecord, NotifyTarget } from '../../contract/records/notice.js'
import { later, sampleNotice, sampleSession } from '../../store/samples.cases.js'
import { openStore } from '../../store/sqlite/sqlite.js'
import type { Store } from '../../store/store.js'
import { type SenderContext, sendNotices } from './send-notices.js'

let folder: string
let store: Store
let server: Server
let texts: string[]
/** HTTP statuses of the target's answers, in this order, then 200. */
let statuses: number[]
let clock: number
let logged: string[]
let woken: string[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-send-notices-'))
  store = openStore(join(folder, 'baton.db'))
  texts = []
  statuses = []
  clock = Date.parse(later(0))
  logged = []
  woken = []
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      texts.push((JSON.parse(body) as { text: string }).text)
      response.writeHead(statuses.shift() ?? 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  server.close()
  store.close()
  rmSync(folder, { recursive: true, force: true })
})

const target = (): NotifyTarget => ({
  via: 'webhook',
  on: ['permission', 'job', 'limit'],
  command: null,
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`,
  everyMs: 30_000,
})
const put = (id: string, changes: Partial<NoticeRecord> = {}) => {
  const at = new Date(clock).toISOString()
  store.addNotice(
    sampleNotice(id, {
      kind: 'job',
      jobId: id,
      name: id,
      text: 'completed',
      target: target(),
      at,
      dueAt: at,
      ...changes,
    }),
  )
}
/** Runs the sending process on a clock that advances whenever the process only waits for it. */
const run = (changes: Partial<SenderContext> = {}) =>
  sendNotices({
    store,
    now: () => new Date(clock),
    log: (level, text, fields) => logged.push(`${level} ${text} ${JSON.stringify(fields)}`),
    isConfigured: () => true,
    continues: () => null,
    changes: {
      next: async (ms) => {
        if (!states().includes('sending')) clock += ms
        await new Promise((resolve) => setImmediate(resolve))
      },
      close: () => {},
    },
    isServed: async () => false,
    wakeAt: (time) => woken.push(time),
    cwd: folder,
    env: {},
    terminalOf: () => null,
    ...changes,
  })
const states = () => ['a', 'b', 'c'].flatMap((id) => store.notice(id)?.state ?? [])

test('a notice that is due is sent once, however often a process looks', async () => {
  put('a')
  await run()
  await run()
  expect([texts, states()]).toEqual([['job a completed'], ['sent']])
  expect(woken).toEqual([])
})

test('notices that come within at_most_every are sent together once it has passed', async () => {
  put('a')
  await run()
  clock += 1_000
  put('b')
  put('c')
  await run()
  expect(texts).toEqual(['job a completed', 'job c completed · job b completed'])
  expect(clock - Date.parse(later(0))).toBeGreaterThanOrEqual(30_000)
  expect(states()).toEqual(['sent', 'sent', 'sent'])
})

test('a target that fails twice receives the notice with the third try', async () => {
  statuses = [503, 500]
  put('a')
  await run()
  expect([texts.length, states()]).toEqual([3, ['sent']])
  expect(logged.map((line) => line.split(' {')[0])).toEqual([
    'warn a notice could not be sent and will be retried',
    'warn a notice could not be sent and will be retried',
    'debug a notice was sent',
  ])
})

test('a target that never works is abandoned after four tries, and the log does not contain its secret', async () => {
  statuses = [500, 500, 500, 500, 500]
  put('a')
  await run()
  expect([texts.length, states()]).toEqual([4, ['failed']])
  expect(store.notice('a')).toMatchObject({ trouble: 'answered 500', tries: 4, dueAt: null })
  expect(logged.at(-1)).toMatch(/^error a notice could not be sent after 4 tries .*"reason":"answered 500"/)
  expect(logged.join()).not.toContain('secret-path')
})

test('a notice whose sender died is sent by the next process after its lease, and only once more', async () => {
  put('a', { state: 'sending', tries: 1, claimedAt: later(0), dueAt: later(90_000) })
  clock += 89_999
  await run()
  expect(texts).toEqual([])
  clock += 1
  await run()
  expect([texts.length, states()]).toEqual([1, ['sent']])
  put('b', { state: 'sending', tries: 2, crashed: true, claimedAt: later(0) })
  await run()
  expect([texts.length, store.notice('b')?.state]).toEqual([1, 'failed'])
})

test('a notice whose sender died is not delayed by its own claim, and its crash is kept', async () => {
  const slow = { ...target(), everyMs: 600_000 }
  put('a', { target: slow, state: 'sending', tries: 1, claimedAt: later(0), dueAt: later(90_000) })
  clock += 90_000
  await run()
  expect([texts.length, states()]).toEqual([1, ['sent']])
  put('b', { target: slow, state: 'sending', tries: 1, claimedAt: later(60_000), dueAt: later(150_000) })
  clock = Date.parse(later(150_000))
  await run()
  expect(store.notice('b')).toMatchObject({ state: 'waiting', crashed: true, tries: 1 })
  expect(texts).toHaveLength(1)
})

test('a store error while one result is stored leaves every other send alone', async () => {
  const other = { ...target(), everyMs: 1 }
  put('a')
  put('b', { target: other })
  // SQLite answers SQLITE_BUSY for as long as another process holds the write lock.
  let isBusy = true
  const busy: SenderContext['store'] = {
    ...store,
    putNotice(notice) {
      if (notice.noticeId === 'a' && notice.state === 'sent' && isBusy) {
        isBusy = false
        throw new Error('database is locked')
      }
      store.putNotice(notice)
    },
  }
  const next = async (ms: number): Promise<void> => {
    if (!isBusy && store.notice('b')?.state === 'sent' && store.notice('a')?.tries === 1) clock += ms
    await new Promise((resolve) => setImmediate(resolve))
  }
  await run({ store: busy, changes: { next, close: () => {} } })
  expect(store.notice('b')).toMatchObject({ state: 'sent', tries: 1 })
  expect(store.notice('a')).toMatchObject({ state: 'sent', tries: 2, crashed: true })
  expect(logged).toContainEqual(
    expect.stringMatching(/^error the result of sending a notice could not be stored .*database is locked/),
  )
})

test('a store error while notices are claimed does not cut off a send that is under way', async () => {
  put('a')
  const broken: SenderContext['store'] = {
    ...store,
    dueNotices(now) {
      if (states().includes('sending')) throw new Error('database is locked')
      return store.dueNotices(now)
    },
  }
  const next = () => new Promise<void>((resolve) => setImmediate(resolve))
  await expect(run({ store: broken, changes: { next, close: () => {} } })).rejects.toThrow('database is locked')
  expect([texts, states()]).toEqual([['job a completed'], ['sent']])
})

test('a sender that stays for a retry takes the write lock only when a notice is due', async () => {
  statuses = [503]
  put('a')
  let locks = 0
  const counting: SenderContext['store'] = {
    ...store,
    transaction(work) {
      locks++
      return store.transaction(work)
    },
  }
  await run({ store: counting })
  // Four locks: two claims and two results. The sender checked at least four times between them.
  expect([locks, states()]).toEqual([4, ['sent']])
})

test('a target that was taken out of the configuration is not used any more', async () => {
  put('a')
  await run({ isConfigured: () => false })
  expect([texts, store.notice('a')]).toMatchObject([[], { state: 'dropped', dueAt: null }])
})

test('no notice is sent for a dialog that was answered meanwhile', async () => {
  store.putSession(sampleSession('s1', { state: 'working' }))
  put('a', { kind: 'permission', jobId: null, sessionId: 's1' })
  await run()
  expect([texts, states()]).toEqual([[], ['dropped']])
})

test('a notice that is due much later is left to one process that is started for that time', async () => {
  put('a', { kind: 'limit', jobId: null, sessionId: null, dueAt: later(3_600_000), data: { moment: 'reset' } })
  await run()
  await run()
  expect([texts, woken]).toEqual([[], [later(3_600_000)]])
})

test('the process that waits for a reset in seven days is started once', async () => {
  const day = 24 * 3_600_000
  const resetsAt = later(7 * day)
  put('a', { kind: 'limit', jobId: null, sessionId: null, dueAt: resetsAt, data: { moment: 'reset' } })
  for (let n = 0; n < 7; n++) {
    await run()
    clock += day - 3_600_000
    store.deleteOldRows(new Date(clock))
  }
  expect(woken).toEqual([resetsAt])
})

test('no waiting process is started while a server runs, and one is started after the server has gone', async () => {
  put('a', { kind: 'limit', jobId: null, sessionId: null, dueAt: later(3_600_000), data: { moment: 'reset' } })
  await run({ isServed: async () => true })
  expect(woken).toEqual([])
  await run()
  expect(woken).toEqual([later(3_600_000)])
})

test('the notice of a reached limit says what the client will do', async () => {
  put('a', { kind: 'limit', jobId: null, text: 'Five-hour limit reached', data: { moment: 'reached' } })
  await run({ continues: () => true })
  expect(texts).toEqual(['Five-hour limit reached; the client continues by itself'])
})

test('a result does not overwrite that of a process that took the notice over', async () => {
  put('a')
  await run({
    isConfigured(notice) {
      store.putNotice({ ...notice, claimedAt: later(1), tries: 2 })
      return true
    },
    changes: {
      next: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        if (texts.length > 0) store.putNotice({ ...store.notice('a')!, state: 'sent', dueAt: null, tries: 2 })
      },
      close: () => {},
    },
  })
  expect(store.notice('a')).toMatchObject({ claimedAt: later(1), tries: 2 })
})
