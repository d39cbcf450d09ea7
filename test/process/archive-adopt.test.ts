import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Home, makeHome } from '../harness/home.js'
import { type Pretended, pretend } from '../harness/hooks.js'
import { hostCommands } from '../harness/hosted-commands.js'
import { commandLine, withEnvironment } from '../harness/processes.js'
import { tempDir } from '../harness/temp-dir.js'
import { until } from '../harness/wait.js'

interface Ran {
  code: number
  stdout: string
  stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the JSON
  json: any
}

async function baton(home: Pick<Home, 'env' | 'project'>, ...args: string[]): Promise<Ran> {
  const ran = await hostCommands(home).run(args)
  return {
    ...ran,
    get json() {
      return JSON.parse(ran.stdout)
    },
  }
}

const say = ({ transcript, id }: Pretended, text: string): void =>
  appendFileSync(
    transcript,
    `${JSON.stringify({
      type: 'user',
      uuid: `${id}-${text}`,
      isSidechain: false,
      cwd: '/where/it/worked',
      sessionId: id,
      timestamp: '2026-03-01T10:00:00.000Z',
      message: { role: 'user', content: text },
    })}\n`,
  )

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

let machine: Home
const expected: string[] = []

/** Makes a machine where hooks archived two sessions, one of them twice. */
beforeAll(async () => {
  machine = makeHome()
  expect((await baton(machine, 'install')).code).toBe(0)
  const sessions = [pretend(machine, process.pid), pretend(machine, process.pid)]
  const archive = async (session: Pretended, text: string): Promise<void> => {
    await session.hook('SessionStart', { source: 'startup' })
    say(session, text)
    expected.unshift(sha256(session.transcript))
    expect(await session.hook('PreCompact', { trigger: 'auto' })).toMatchObject({ code: 0 })
    await until('the archive', async () => {
      const { archives } = (await baton(machine, 'archive', 'list', '--json')).json
      return archives.length === expected.length && archives.every((one: { indexed: boolean }) => one.indexed)
    })
  }
  await archive(sessions[0]!, 'the marmot guards the tunnel')
  await archive(sessions[0]!, 'the heron waits at the weir')
  await archive(sessions[1]!, 'the lynx crosses the ridge')
  await until('no engine runs', () => enginesIn(machine).length === 0)
})
afterAll(() => machine.dispose())

/** Engines that hooks of this machine started. */
const enginesIn = ({ home }: Home): number[] =>
  withEnvironment(`HOME=${home}`).filter((pid) => commandLine(pid).includes('hook-engine'))

/** Returns a copy of the machine's archives. `expected` has their hashes, newest first. */
function archived() {
  const dir = tempDir()
  const batonHome = path.join(dir, 'baton')
  cpSync(machine.batonHome, batonHome, { recursive: true, filter: (from) => !statSync(from).isFIFO() })
  const home = { dir, batonHome, project: machine.project, env: { ...machine.env, BATON_HOME: batonHome } }
  return { home, store: path.join(batonHome, 'baton.db'), list: () => baton(home, 'archive', 'list', '--json') }
}

async function restoredHashes(home: ReturnType<typeof archived>['home'], ids: string[]): Promise<string[]> {
  const hashes: string[] = []
  for (const id of ids) {
    const to = path.join(home.dir, `${id}.jsonl`)
    expect((await baton(home, 'archive', 'restore', id, '--to', to)).code).toBe(0)
    hashes.push(sha256(to))
  }
  return hashes
}

const removeStore = (store: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(store + end, { force: true })
}

test('after the store was deleted, verify and doctor suggest adopt, which restores every archive', async () => {
  const { home, store, list } = archived()
  const before = (await list()).json.archives
  removeStore(store)

  const doctor = (await baton(home, 'doctor', '--json')).json.checks.find(
    (one: { name: string }) => one.name === 'archives',
  )
  expect(doctor).toMatchObject({ ok: false, fix: expect.stringContaining('baton archive adopt') })
  const verify = await baton(home, 'archive', 'verify')
  expect(verify.code).toBe(1)
  expect(verify.stdout).toContain('3 archives are on disk but not in the store: run baton archive adopt.')
  expect(verify.stdout).not.toContain('remove')
  expect((await baton(home, 'archive', 'verify', '--json')).json).toMatchObject({
    not_in_store: [{}, {}, {}],
    extra: [],
  })

  expect((await baton(home, 'archive', 'adopt', '--dry-run')).stdout).toMatch(/^Would add 3 archives of 2 sessions/)
  expect((await list()).json.archives).toEqual([])
  const adopted = await baton(home, 'archive', 'adopt', '--json')
  expect(adopted).toMatchObject({ code: 0, json: { changed: true, skipped: [], archives: [{}, {}, {}] } })
  expect((await list()).json.archives).toEqual(before)
  expect(
    await restoredHashes(
      home,
      before.map((one: { archive_id: string }) => one.archive_id),
    ),
  ).toEqual(expected)
  const search = await baton(home, 'archive', 'search', 'heron weir', '--json')
  expect(search.json.hits).toMatchObject([{ text: 'the heron waits at the weir' }])
  expect((await baton(home, 'recall', 'lynx', '--json')).json.hits).toHaveLength(1)
  expect(await baton(home, 'archive', 'verify')).toMatchObject({ code: 0, stdout: '3 archives are intact.\n' })
  expect((await baton(home, 'archive', 'adopt')).stdout).toMatch(/Nothing to adopt/)
})

test('archives without record files are adopted too, with the project that their transcript names', async () => {
  const { home, store, list } = archived()
  removeStore(store)
  rmSync(path.join(home.batonHome, 'archive', 'records'), { recursive: true })
  expect((await baton(home, 'archive', 'adopt')).code).toBe(0)
  const { archives } = (await list()).json
  expect(archives.map((one: { project: string }) => one.project)).toEqual(Array(3).fill('/where/it/worked'))
  expect(
    await restoredHashes(
      home,
      archives.map((one: { archive_id: string }) => one.archive_id),
    ),
  ).toEqual(expected)
  expect((await baton(home, 'archive', 'search', 'marmot', '--json')).json.hits).toHaveLength(1)
})

test('following the advice for a damaged store literally restores every archive', async () => {
  const { home, store, list } = archived()
  const before = (await list()).json.archives
  writeFileSync(store, 'not a database any more '.repeat(300))
  const refused = await baton(home, 'archive', 'list')
  expect(refused.code).toBe(1)
  const advice = refused.stderr.replace(/\s+/g, ' ')
  const [, move] = /1\. Run (mv '[^']+' '[^']+')\. 2\. Run baton archive adopt/.exec(advice)!
  const { checks } = (await baton(home, 'doctor', '--json')).json
  const fix = checks.find((one: { name: string }) => one.name === 'store').fix
  expect(fix).toContain(move)
  expect(fix).toContain('baton archive adopt')
  expect((await baton(home, 'archive', 'adopt')).stderr).toContain('is damaged')

  expect(spawnSync('/bin/sh', ['-c', move!]).status).toBe(0)
  expect((await baton(home, 'archive', 'adopt')).stdout).toMatch(/^Added 3 archives of 2 sessions/)
  expect((await list()).json.archives).toEqual(before)
  expect(
    await restoredHashes(
      home,
      before.map((one: { archive_id: string }) => one.archive_id),
    ),
  ).toEqual(expected)
  expect(existsSync(`${store}.damaged`)).toBe(true)
})

test('adopt names a file that it must skip, adopts the rest and exits with 1', async () => {
  const { home, store } = archived()
  removeStore(store)
  const folder = path.join(home.batonHome, 'archive')
  const [, second] = readdirSync(folder).filter((name) => name.endsWith('.br'))
  renameSync(path.join(folder, second!), path.join(home.dir, 'elsewhere'))
  const ran = await baton(home, 'archive', 'adopt')
  expect(ran.code).toBe(1)
  const text = ran.stdout.replace(/\s+/g, ' ')
  expect(text).toContain(`${second}: it does not exist`)
  expect(text).toContain('Added 2 archives of 2 sessions')
  renameSync(path.join(home.dir, 'elsewhere'), path.join(folder, second!))
  expect(await baton(home, 'archive', 'adopt')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Added 1 archive of 1 session'),
  })
})
