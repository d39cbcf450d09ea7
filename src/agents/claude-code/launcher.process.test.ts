import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { eventJson, runHook, SESSION, spoolTaken } from '../../../test/harness/run-hook.js'
import { until } from '../../../test/harness/wait.js'
import { createTestHome, type TestHome } from '../../testing/cli-home.js'
import { launcherText } from './launcher.js'
import { parseTruncatedPayload } from './payload.js'

const SCRIPT = path.join(import.meta.dirname, 'launcher.sh')

test('shellcheck finds no fault in the launcher', () => {
  const run = spawnSync('shellcheck', ['--format=gcc', SCRIPT], { encoding: 'utf8' })
  if (run.error)
    throw new Error(`shellcheck cannot be run (${run.error.message}). Install it: apt-get or brew install shellcheck`)
  expect(run.stdout + run.stderr).toBe('')
})

test('no line of the launcher is longer than 120 columns', () => {
  const lines = readFileSync(SCRIPT, 'utf8').split('\n')
  expect(lines.filter((line) => line.length > 120)).toEqual([])
})

test('the installed launcher has one comment, and no placeholder remains in it', () => {
  const text = launcherText({
    bash: '/bin/bash',
    home: { root: '/home/u/@NODE@', config: '/config', log: '/log' },
    node: '/usr/bin/node',
    engine: '/engine.cjs',
    agent: 'claude-code',
    environment: ['NO_COLOR', 'not a name'],
    unread: { event: 'PostToolBatch', behind: '"tool_calls"' },
  })
  expect(text.split('\n').filter((line) => /(^| )# /.test(line))).toEqual([text.split('\n')[1]])
  expect(text.match(/@[A-Z]+@/g)).toEqual(['@NODE@'])
  expect(text).toContain('names=\'NO_COLOR\' values="$NO_COLOR"')
})

/**
 * Makes the installed launcher use its code for bash 3.2, which macOS has, on this machine.
 */
function asBash3(fixture: TestHome): void {
  const launcher = path.join(fixture.env.BATON_HOME!, 'bin', 'hook')
  const text = readFileSync(launcher, 'utf8')
  const changed = text.replace(/bash_version=.*/, 'bash_version=3')
  expect(changed).not.toBe(text)
  writeFileSync(launcher, changed.replaceAll('EPOCH', 'NO_EPOCH').replaceAll('BASHPID', 'NO_BASHPID'))
}

async function isKnown(fixture: TestHome, session: string): Promise<boolean> {
  const { json } = await fixture.run(['status', '--json'])
  return json.sessions.some((one: { session_id: string }) => one.session_id === session)
}

test.each([false, true])('with bash 3 every signal arrives once, with a server: %s', async (hasServer) => {
  const fixture = createTestHome()
  expect(await fixture.run(['install'])).toMatchObject({ code: 0 })
  asBash3(fixture)
  if (hasServer) await fixture.start(['serve', '--port', '0', '--json']).firstLine()
  for (const [kind, more] of [
    ['SessionStart', { source: 'startup' }],
    ['UserPromptSubmit', { prompt: 'x'.repeat(50_000) }],
    ['PostToolBatch', { tool_calls: [] }],
    ['Stop', {}],
  ] as const)
    expect(await runHook(fixture, kind, { input: eventJson(kind, more) })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    })
  const line = await runHook(fixture, 'status-line')
  expect([line.code, line.stderr]).toEqual([0, ''])
  expect(line.stdout).toContain('ctx')
  await spoolTaken(fixture.env.BATON_HOME!)
  await until('the session is known', () => isKnown(fixture, SESSION))
})

/** Returns the body of a tool batch as the launcher spools it while no engine runs. */
async function spooledBatch(fields: { cwd: string; tool_calls: object[] }): Promise<string> {
  const fixture = createTestHome()
  expect(await fixture.run(['install'])).toMatchObject({ code: 0 })
  const launcher = path.join(fixture.env.BATON_HOME!, 'bin', 'hook')
  writeFileSync(launcher, readFileSync(launcher, 'utf8').replace(/ node='[^']*'/, " node='/bin/true'"))
  const input = eventJson('PostToolBatch', fields)
  expect(await runHook(fixture, 'PostToolBatch', { input })).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const spool = path.join(fixture.env.BATON_HOME!, 'spool')
  const [name] = readdirSync(spool)
  return /\n\n(\{.*)\n#end\n$/s.exec(readFileSync(path.join(spool, name!), 'utf8'))![1]!
}

const CALL = { tool_name: 'Bash', tool_input: { command: 'make' } }

test.each([
  ['a short beginning', '/project'],
  ['a long working directory', `/${'project/'.repeat(100)}`],
])('only the first 2 kB of a large tool batch with %s are stored, with the id of a call', async (_, cwd) => {
  const response = { tool_response: 'x'.repeat(30_000) }
  const tool_calls = ['first', 'second'].map((id) => ({ ...CALL, tool_use_id: id, ...response }))
  const body = await spooledBatch({ cwd, tool_calls })
  expect(body).toHaveLength(2048)
  expect(parseTruncatedPayload(body)).toMatchObject({
    session_id: SESSION,
    cwd,
    tool_calls: [{ tool_use_id: 'first' }],
  })
})

test('all calls of a short tool batch are stored, because they are counted', async () => {
  const tool_calls = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ ...CALL, tool_use_id: id, tool_response: 'ok' }))
  const body = await spooledBatch({ cwd: '/project', tool_calls })
  expect(JSON.parse(body)).toMatchObject({ tool_calls })
})
