import { spawn, spawnSync } from 'node:child_process'
import { closeSync, cpSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { pretend } from '../harness/hooks.js'
import { BATON, clientBinary } from '../harness/paths.js'
import { withEnvironment } from '../harness/processes.js'
import { type PrintRun, runPrint } from '../harness/run-print.js'
import { type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const SCRIPT = { steps: [{ bash: 'echo a', used: 150_008 }, { bash: 'echo b', used: 151_008 }, 'Done.'] }
const go = (it: Stage): Promise<PrintRun> =>
  runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6', args: ['--include-hook-events'] })

/** Checks that the session ran as without Baton: no error, no output, no cancelled hook. */
function expectUndisturbed(it: Stage, run: PrintRun): void {
  expect([run.code, run.stderr]).toEqual([0, ''])
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  expect(it.home.transcript(run.sessionId!)).not.toMatch(/hook_non_blocking_error|hook_blocking_error|hook_cancelled/)
  const answers = run.messages.filter((m) => m.subtype === 'hook_response')
  expect(answers.length).toBeGreaterThan(4)
  expect(answers.filter((m) => m.exit_code !== 0 || m.stdout !== '' || m.stderr !== '')).toEqual([])
}

function overwrite(file: string, at: number, text: string): void {
  const fd = openSync(file, 'r+')
  writeSync(fd, text, at)
  closeSync(fd)
}

/** Short waits for hooks: no process reads their signals here, and the client ends slow hooks. */
const HASTY = { BATON_PATIENCE: '1' }

const bytesOf = (file: string): string =>
  statSync(file).isDirectory() ? 'folder' : readFileSync(file).toString('base64')

test('a store with an overwritten header is reported and kept, and no signal is lost', async () => {
  const it = await stage(SCRIPT, { mod: false, env: HASTY })
  const file = path.join(it.home.batonHome, 'baton.db')
  const earlier = pretend(it.home, process.pid)
  await earlier.statusLine(30_008)
  await it.session()
  // A worker that still has the store open would restore the header.
  await until('no process uses the store', () => withEnvironment(`HOME=${it.home.home}`).length === 0)
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
  cpSync(file, `${file}.good`)
  overwrite(file, 0, 'no database at all')
  const broken = bytesOf(file)

  const run = await go(it)
  expectUndisturbed(it, run)
  expect((await earlier.statusLine(31_008)).stdout).toMatch(/^baton: .*baton doctor\n?$/)
  for (const command of [['status'], ['events', '--json'], ['show', run.sessionId!]]) {
    const said = await it.baton(...command)
    expect([command, said.code, said.stdout]).toEqual([command, expect.any(Number), ''])
    expect(said.code).toBeGreaterThan(0)
    expect(said.stderr).toMatch(/damaged|not a database/i)
    expect(said.stderr).not.toMatch(/\n\s+at |SQLITE_|undefined/)
  }
  expect(bytesOf(file)).toBe(broken)

  rmSync(file, { recursive: true })
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
  renameSync(`${file}.good`, file)
  const sessions = await it.sessions()
  expect(sessions.map((session) => session.session_id).sort()).toEqual([earlier.id, run.sessionId].sort())
  expect(sessions.find((session) => session.session_id === run.sessionId)).toMatchObject({
    used_tokens: 152_008,
    state: 'ended',
  })
  expect(it.strays().filter((name) => name.startsWith('spool'))).toEqual([])
})

const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0
const PLACES: [string, string, RegExp][] = [
  ['read-only', 'mount --bind "$B" "$B" && mount -o remount,bind,ro "$B"', /read-only|not writable/i],
  [
    'on a full disk',
    'cp -a "$B" "$T" && mount -t tmpfs -o size=1m none "$B" && cp -a "$T/." "$B"; head -c 2m /dev/zero >"$B/fill"',
    /full|space/i,
  ],
]

/** Runs a command in a mount namespace of its own, with Baton's home mounted differently. */
function apart(
  it: Stage,
  mount: string,
  ...command: string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const script = `B="$BATON_HOME" T="$(mktemp -d)"; { ${mount}; } 2>/dev/null; exec "$@"`
  const child = spawn('unshare', ['-rm', 'sh', '-c', script, 'sh', ...command], {
    env: it.home.env,
    cwd: it.home.project,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

test.runIf(canMount).each(PLACES)(
  'with a home that is %s the client continues, and status reports the cause',
  async (_, mount, says) => {
    const it = await stage(SCRIPT, { mod: false, env: HASTY })
    await pretend(it.home, process.pid).statusLine(30_008)
    await it.session()
    const options = [
      '--output-format',
      'stream-json',
      '--verbose',
      '--include-hook-events',
      '--dangerously-skip-permissions',
    ]
    const run = await apart(it, mount, clientBinary(), '-p', 'go', '--model', 'claude-opus-4-6', ...options)
    expect([run.code, run.stderr]).toEqual([0, ''])
    const messages = run.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(messages.at(-1)).toMatchObject({ type: 'result', result: 'Done.', is_error: false })
    const answers = messages.filter((m) => m.subtype === 'hook_response')
    expect(answers.length).toBeGreaterThan(4)
    expect(answers.filter((m) => m.exit_code !== 0 || m.stdout !== '' || m.stderr !== '')).toEqual([])
    const status = await apart(it, mount, process.execPath, BATON, 'status')
    expect(status.code).not.toBe(0)
    expect(status.stderr).toMatch(says)
    expect(await it.sessions()).toHaveLength(1)
  },
)
