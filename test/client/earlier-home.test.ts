import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { type Model, startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { openDatabase } from '../../src/store/sqlite/driver.js'
import { MIGRATIONS } from '../../src/store/sqlite/migrations.js'
import { type EarlierHome, openEarlierHome } from '../harness/earlier-home.js'
import { type HookRun, pretend } from '../harness/hooks.js'
import { BATON, clientBinary } from '../harness/paths.js'
import { runPrint } from '../harness/run-print.js'
import { levelMark, mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { climb } from './climb-script.js'

interface Machine extends EarlierHome {
  model: Model
  baton(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the JSON
  json(...args: string[]): Promise<any>
}

/** Opens the recorded home with the current package in place of the earlier one. */
async function upgraded(script: ScriptInput = { steps: ['Done.'] }): Promise<Machine> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const earlier = openEarlierHome({ model })
  const { home } = earlier
  home.env.PATH = `${path.dirname(clientBinary())}:${home.env.PATH}`
  const baton: Machine['baton'] = (...args) =>
    new Promise((resolve) => {
      execFile(process.execPath, [BATON, ...args], { env: home.env, cwd: home.project }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
    })
  const json: Machine['json'] = async (...args) => {
    const { stdout, stderr } = await baton(...args, '--json')
    expect(stderr).toBe('')
    return JSON.parse(stdout)
  }
  return { ...earlier, model, baton, json }
}

const spoolOf = ({ home }: Machine): string[] => readdirSync(path.join(home.batonHome, 'spool'))
const stepsOf = ({ home }: Machine): string => readFileSync(path.join(home.project, 'steps'), 'utf8')

function storeVersion(file: string, set?: number): number {
  const db = openDatabase(file)
  if (set !== undefined) db.exec(`PRAGMA user_version = ${set}`)
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
  db.close()
  return version
}

test('a home of the previous version is shown as that version showed it', async () => {
  const it = await upgraded()
  const { said } = it.recorded
  const { sessions: shown } = await it.json('status', '--all')
  for (const session of said.status.sessions) {
    expect(shown.find(isOf(session))).toMatchObject(lasting(session))
    expect(await it.json('show', session.session_id)).toMatchObject(lasting(said.show.find(isOf(session))))
  }
  expect(shown).toHaveLength(said.status.sessions.length + 1)

  const { archives } = await it.json('archive', 'list')
  const { archives: verified, ...verdict } = await it.json('archive', 'verify')
  expect(verdict).toEqual({ ok: true, not_in_store: [], unusable: [], extra: [], not_kept: [] })
  for (const archive of said.archives.archives) {
    expect(archives).toContainEqual(expect.objectContaining(archive))
    expect(verified).toContainEqual({ archive_id: archive.archive_id, state: 'whole', reason: null })
  }
  expect(await it.json('recall', 'binoculars')).toMatchObject(said.recall)

  expect(await it.json('handoffs', 'list')).toMatchObject(said.briefs)
  // This version hides the marker of additions, and the signed text keeps the recorded project
  // path.
  const { text, added, front_matter: front, ...brief } = said.brief
  const shownBrief = await it.json('handoffs', 'show', brief.brief_id)
  expect(shownBrief).toMatchObject({ ...brief, verdict: 'genuine' })
  expect(shownBrief.text).toBe(withoutMark(text))
  expect(shownBrief.added).toBe(withoutMark(added))
  expect(shownBrief.front_matter).toMatchObject({ ...front, project: expect.any(String) })

  expect((await it.json('messages')).messages).toMatchObject(said.messages.messages)
  // This version also knows the cost of a running job, from its session.
  const known = (key: string, value: unknown) => (key === 'cost_usd' && value === null ? undefined : value)
  const { jobs } = await it.json('jobs', 'list')
  expect(jobs).toMatchObject(JSON.parse(JSON.stringify(said.jobs.jobs, known)))
  for (const job of jobs)
    expect(job.spend.cost_usd).toBe((await it.json('show', job.sessions[0].session_id)).spend.cost_usd)
})

interface OfSession {
  session_id: string
  ended_at?: string | null
  archives?: unknown
  chain?: unknown
}

const isOf =
  ({ session_id: id }: OfSession) =>
  (one: OfSession): boolean =>
    one.session_id === id

/**
 * Removes fields that this version adds to a session whose client was killed: end time and archive.
 */
function lasting({ archives, ...session }: OfSession): object {
  const { ended_at: end, chain, ...killed } = session
  return end === null ? killed : session
}

const withoutMark = (text: string): string => text.replace(/^<!-- to \w+ -->\n/m, '')

test('events of the previous version stay, and its signals in the spool are processed once', async () => {
  const it = await upgraded()
  const { said, sessions } = it.recorded
  expect(spoolOf(it)).not.toEqual([])
  const cranes = { session_id: sessions.cranes, state: 'ended', used_tokens: 52_008 }
  for (let look = 0; look < 2; look++) {
    expect((await it.json('status', '--all')).sessions).toContainEqual(expect.objectContaining(cranes))
    expect(spoolOf(it)).toEqual([])
    const { stdout } = await it.baton('events', '--json')
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.slice(0, said.events.length)).toEqual(said.events)
    const fresh = events.slice(said.events.length).filter((event) => event.session_id === sessions.cranes)
    expect(
      fresh.filter(({ type }) => type !== 'archive_created').map(({ type, data }) => [type, data.used_tokens]),
    ).toEqual([
      ['session_started', undefined],
      ['cycle_started', undefined],
      ['reading', 50_008],
      ['reading', 52_008],
      ['session_ended', undefined],
    ])
    expect((await it.json('show', sessions.cranes)).spend).toMatchObject({ input_tokens: 16, output_tokens: 100 })
  }
})

test('hooks installed by the previous version work with this one and deliver its pending texts once', async () => {
  const it = await upgraded()
  const { sessions } = it.recorded
  const stork = pretend(it.home, clientOf(it), it.home.project, sessions.stork)
  const prompts = [await taken(it, stork.hook('UserPromptSubmit', { prompt: 'And now?' }))]
  for (let n = 0; n < 2; n++) prompts.push(await taken(it, stork.hook('UserPromptSubmit', { prompt: 'And now?' })))
  expect(prompts.join('').split('The stork left in August.')).toHaveLength(2)
  expect(await taken(it, stork.statusLine(141_008))).toMatch(/own-line.*141k/s)

  const fresh = pretend(it.home, clientOf(it))
  const given = [
    await taken(it, fresh.hook('SessionStart', { source: 'startup' })),
    await taken(it, fresh.hook('UserPromptSubmit', { prompt: 'Go on.' })),
  ]
  expect(given.join('').split('Count the herons on the north shore.')).toHaveLength(2)
  const { briefs } = await it.json('handoffs', 'list')
  expect(briefs).toMatchObject([{ status: 'used', used_by_session_id: fresh.id }])
})

/** A process that stands for the client and ends with the home. */
const clientOf = ({ home }: Machine): number => spawn('sleep', ['600'], { env: home.env, stdio: 'ignore' }).pid!

/** Returns a hook's output once an engine has processed its signal and stored the next answer. */
async function taken(it: Machine, run: Promise<HookRun>): Promise<string> {
  const { code, stdout, stderr } = await run
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  await until('the signal is taken', () => spoolOf(it).length === 0)
  return stdout
}

test.each([
  ['without a server', false],
  ["beside this version's server", true],
])('launcher and plugin module of the previous version measure and warn in the real client %s', async (_, server) => {
  const it = await upgraded({
    steps: [{ bash: 'echo one', used: 90_008 }, { bash: 'echo two', used: 91_008 }, 'Done.'],
  })
  if (server) await serve(it)
  const { sessionId, result } = await runPrint(it.home, { prompt: 'Work.', model: 'claude-opus-4-6' })
  expect(result).toMatchObject({ is_error: false })
  const { sessions } = await it.json('status', '--all')
  expect(sessions.find(isOf({ session_id: sessionId! }))).toMatchObject({
    state: 'ended',
    // Report and transcript both hold the last answer; which is read last depends on timing.
    source: expect.stringMatching(/^(?:mod|transcript)$/),
    exact: true,
    compaction_tokens: 167_000,
    level: 'notice',
  })
  const warned = mainRequests(it.model, sessionId!).map((entry) => countOccurrences(entry, levelMark('notice')))
  expect(warned.at(-1)).toBe(1)
})

/** Starts `baton serve` and returns once it listens. */
async function serve({ home }: Machine): Promise<void> {
  const server = spawn(process.execPath, [BATON, 'serve', '--port', '0'], { env: home.env, cwd: home.project })
  await once(server.stdout, 'data')
}

test('install after an upgrade replaces the launcher, and uninstall restores the settings', async () => {
  const it = await upgraded()
  const settings = path.join(it.home.configDir, 'settings.json')
  const installed = readFileSync(settings, 'utf8')
  const failed = async (): Promise<string[]> =>
    (await it.json('doctor')).checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name)
  // Processes the signals in the spool, because doctor reports old unprocessed ones.
  expect((await it.baton('status')).code).toBe(0)
  expect(await failed()).toEqual(['launcher', 'mod'])

  const { files } = await it.json('install')
  const changed = files.filter(({ action }: { action: string }) => action !== 'unchanged')
  const paths: string[] = changed.map(({ path: file }: { path: string }) => path.relative(it.home.dir, file))
  expect(paths).toEqual(expect.arrayContaining(['baton/bin/hook', 'home/.claude/skills/baton/hooks/register.js']))
  // Nothing but the launcher and the plugin module is replaced.
  expect(paths.filter((file) => !/^(?:baton\/bin\/hook$|home\/\.claude\/skills\/baton\/)/.test(file))).toEqual([])
  expect(readFileSync(settings, 'utf8')).toBe(installed)
  expect(await failed()).toEqual([])

  expect((await it.baton('uninstall')).code).toBe(0)
  expect(readFileSync(settings, 'utf8')).toBe(it.recorded.original)
  expect(existsSync(path.join(it.home.configDir, 'skills'))).toBe(false)
})

test('a job that was killed under the previous version is completed, and no step is done twice', async () => {
  const it = await upgraded({ ...climb({ steps: 6, grow: 1_000 }), conversations: [] })
  const [killed] = it.recorded.said.jobs.jobs
  expect(stepsOf(it)).toBe('1\n2\n')
  const resumed = await it.json('jobs', 'resume', killed.job_id)
  expect(resumed).toMatchObject({ job_id: killed.job_id, status: 'completed', exit_reason: 'success', compactions: 0 })
  expect(stepsOf(it)).toBe('1\n2\n3\n4\n5\n6\n')
})

test('a store of the previous version is migrated, and a newer one is refused and stays unchanged', async () => {
  const it = await upgraded()
  const store = path.join(it.home.batonHome, 'baton.db')
  expect(storeVersion(store)).toBeLessThan(MIGRATIONS.length)
  expect((await it.baton('status')).code).toBe(0)
  expect(storeVersion(store)).toBe(MIGRATIONS.length)

  storeVersion(store, MIGRATIONS.length + 1)
  const bytes = readFileSync(store)
  const refused = await it.baton('status')
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`format ${MIGRATIONS.length + 1}`) })
  expect(readFileSync(store).equals(bytes)).toBe(true)
})
