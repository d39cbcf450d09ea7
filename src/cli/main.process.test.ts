import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BATON, REPOSITORY } from '../../test/harness/paths.js'
import { createTestHome } from '../testing/cli-home.js'
import { COMMAND_NAMES, loadAllCommands } from './commands.js'

test('--version prints the version of the package and opens no store', async () => {
  const fixture = createTestHome()
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
  expect(await fixture.run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  for (const option of ['-V', '-v']) expect((await fixture.run([option])).stdout).toBe(`${version}\n`)
  expect((await fixture.run(['--version', '--json'])).json).toEqual({ version })
  expect(readdirSync(fixture.dir)).toEqual(['me'])
  const loaded = spawnSync(process.execPath, [BATON, '--version'], {
    env: { ...fixture.env, NODE_DEBUG: 'esm,module' },
    encoding: 'utf8',
  })
  expect(loaded.stderr).not.toMatch(/sqlite|yaml|valibot|chunks\/house/)
})

test('every command prints help with usage, examples and the shape of its JSON', async () => {
  const fixture = createTestHome()
  const commands = await loadAllCommands()
  expect(commands.map(({ name }) => name)).toEqual(COMMAND_NAMES)
  const all = await fixture.run([])
  expect(all.code).toBe(0)
  expect((await fixture.run(['--help'])).stdout).toBe(all.stdout)
  for (const { name, examples, options } of commands) {
    expect(all.stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'))
    expect(examples.length).toBeGreaterThan(0)
    const help = await fixture.run([name, '--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    for (const part of [
      'Usage',
      `baton ${name}`,
      'Examples',
      'With --json',
      ...Object.keys(options).map((option) => `--${option}`),
    ]) {
      expect(help.stdout).toContain(part)
    }
  }
  expect((await fixture.run(['help', 'show'])).stdout).toBe((await fixture.run(['show', '-h'])).stdout)
  const check = await fixture.run(['handoffs', 'check', '--help'])
  expect(check.stdout).not.toContain('baton handoffs list')
  expect((await fixture.run(['help', 'handoffs', 'check'])).stdout).toBe(check.stdout)
  const { commands: listed } = (await fixture.run(['help', '--json'])).json
  expect(listed.map((one: { name: string }) => one.name)).toEqual(COMMAND_NAMES)
})

test('an unknown command, option or value is reported with the nearest valid name', async () => {
  const fixture = createTestHome()
  const cases: [string[], string, string][] = [
    [['staus'], 'There is no command "staus".', 'Did you mean baton status?'],
    [['frobnicate'], 'There is no command "frobnicate".', 'baton help lists all commands.'],
    [['help', 'shwo'], 'There is no command "shwo".', 'Did you mean baton help show?'],
    [['status', '--wacth'], 'baton status has no option --wacth.', 'Did you mean --watch?'],
    [['status', '--live=1'], '--live takes no value.', 'See baton status --help.'],
    [['status', 'extra'], 'baton status takes no argument "extra".', 'See baton status --help.'],
    [['serve', '--port'], '--port needs a value: --port N.', 'See baton serve --help.'],
    [
      ['install', '--scope', 'proejct'],
      '--scope cannot be "proejct".',
      'Did you mean project? Valid values: user, project.',
    ],
    [['install', '--agent', 'cursor'], '--agent cannot be "cursor".', 'Valid values: claude-code.'],
    [['config'], 'baton config needs an action: check, explain, init, set, edit.', 'See baton config --help.'],
    [['config', 'chekc'], 'baton config has no action "chekc".', 'Did you mean baton config check?'],
    [['--jsno', 'status'], 'baton has no option --jsno.', 'Did you mean --json?'],
  ]
  for (const [args, error, hint] of cases) {
    expect(await fixture.run(args)).toMatchObject({ code: 2, stdout: '', stderr: `baton: ${error}\n       ${hint}\n` })
  }
  for (const args of [
    ['staus', '--json'],
    ['--json', 'staus'],
    ['serve', '--port', '--json'],
  ]) {
    const told = await fixture.run(args)
    expect(told).toMatchObject({ code: 2, stdout: '' })
    expect(JSON.parse(told.stderr)).toEqual({ error: expect.any(String), hint: expect.any(String), code: 2 })
  }
  expect(readdirSync(fixture.dir)).toEqual(['me'])
})

test('on Windows, Baton says in one sentence that it does not run there', () => {
  const preload = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"win32"})'
  const ran = spawnSync(process.execPath, ['--import', preload, BATON, 'status'], { encoding: 'utf8' })
  expect(ran.status).toBe(4)
  expect(ran.stderr).toContain('not on Windows')
})

test('a reader that closes the pipe early is not an error', () => {
  const ran = spawnSync('bash', ['-c', `set -o pipefail; node "$BATON" help | head -1`], {
    env: { ...process.env, BATON },
    encoding: 'utf8',
  })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
  expect(ran.stdout).toMatch(/^Baton keeps/)
})

test('a damaged store is reported with what to do next, and the file is not changed', async () => {
  const fixture = createTestHome()
  const store = fixture.put(
    join(fixture.env.BATON_HOME!, 'baton.db'),
    'this is not a database, but it is somebody’s file '.repeat(40),
  )
  const before = readFileSync(store)
  const ran = await fixture.run(['status'])
  expect(ran).toMatchObject({ code: 1, stdout: '' })
  expect(ran.stderr).toMatch(/^baton: The store .*baton\.db is damaged[\s\S]*mv '[^']*baton\.db'/)
  expect(readFileSync(store).equals(before)).toBe(true)
  expect(JSON.parse((await fixture.run(['status', '--json'])).stderr)).toMatchObject({
    error: expect.stringContaining('damaged'),
    code: 1,
  })
})

test('colours appear only on a terminal, and not with NO_COLOR', async () => {
  const fixture = createTestHome()
  const inTerminal = (env: Record<string, string>) =>
    spawnSync('script', ['-qec', `${process.execPath} ${BATON} help`, '/dev/null'], {
      env: { ...fixture.env, TERM: 'xterm', ...env },
      encoding: 'utf8',
    }).stdout
  expect(inTerminal({})).toContain('\u001b[1m')
  expect(inTerminal({ NO_COLOR: '1' })).not.toContain('\u001b[')
  expect(inTerminal({ TERM: 'dumb' })).not.toContain('\u001b[')
  expect((await fixture.run(['help'])).stdout).not.toContain('\u001b[')
})
