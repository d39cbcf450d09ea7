import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome } from '../../../test/harness/home.js'
import { BATON } from '../../../test/harness/paths.js'
import { runPrint } from '../../../test/harness/run-print.js'
import { waitingHooksFolder } from '../../agents/claude-code/waiter.js'
import { archivePaths } from '../../archive/archive-folders.js'
import { batonHome } from '../../lib/home.js'
import { startModel } from '../../model/model.js'
import { createTestHome, FinishedCommand } from '../../testing/cli-home.js'

const SETTINGS =
  '{\n  "theme": "dark",\n  "statusLine": { "type": "command", "command": "echo mine", "padding": 0 }\n}\n'

test('install adds Baton, backs up the previous settings and says what happens next', async () => {
  const fixture = createTestHome()
  const settings = fixture.put(join(fixture.user, '.claude', 'settings.json'), SETTINGS)
  const ran = await fixture.run(['install', '--json'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.json).toMatchObject({ changed: true, dry_run: false })
  const [changed] = ran.json.files
  expect(changed).toMatchObject({ path: settings, action: 'changed' })
  expect(readFileSync(changed.backup, 'utf8')).toBe(SETTINGS)
  const home = fixture.env.BATON_HOME!
  for (const folder of ['.', 'spool', 'outbox', 'live', 'run', 'bin'])
    expect(statSync(join(home, folder)).mode & 0o777).toBe(0o700)
  expect(statSync(join(home, 'run', 'tick')).isFIFO()).toBe(true)
  const launcher = readFileSync(join(home, 'bin', 'hook'), 'utf8')
  expect(launcher).toContain(`node='${process.execPath}'`)
  expect(launcher).toContain(BATON.replace('baton.mjs', 'hook-engine.cjs'))
  expect(existsSync(join(fixture.user, '.claude', 'skills', 'baton', 'hooks', 'register.js'))).toBe(true)
  const again = await fixture.run(['install'])
  expect(again.stdout).toMatch(/^Baton is already installed for all your projects\. Nothing changed\./)
  expect((await fixture.run(['install', '--json'])).json).toMatchObject({ changed: false })
})

test('install tells users what was changed, where the backup is and what to do next', async () => {
  const fixture = createTestHome()
  fixture.put(join(fixture.user, '.claude', 'settings.json'), SETTINGS)
  const { stdout } = await fixture.run(['install'])
  expect(stdout).toMatch(
    new RegExp(
      String.raw`^Baton is installed for all your projects\.\n {2}changed {2}~\/\.claude\/settings\.json\n {11}bac` +
        String.raw`kup: .*\/backups\/`,
    ),
  )
  expect(stdout).toContain('created  ~/.claude/skills/baton/\n')
  expect(stdout).toContain('baton status')
})

test('install --dry-run reports the same and changes nothing', async () => {
  const fixture = createTestHome()
  const settings = fixture.put(join(fixture.user, '.claude', 'settings.json'), SETTINGS)
  const { json } = await fixture.run(['install', '--dry-run', '--json'])
  expect(json).toMatchObject({
    changed: true,
    dry_run: true,
    files: expect.arrayContaining([expect.objectContaining({ path: settings, action: 'changed' })]),
  })
  expect((await fixture.run(['install', '--dry-run'])).stdout).toMatch(/^Dry run: nothing was changed\./)
  expect(readFileSync(settings, 'utf8')).toBe(SETTINGS)
  expect(readdirSync(fixture.dir)).toEqual(['me'])
})

test('install with project scope writes only the project’s local settings', async () => {
  const fixture = createTestHome()
  const { json } = await fixture.run(['install', '--scope', 'project', '--json'])
  expect(json.files[0].path).toBe(join(fixture.project, '.claude', 'settings.local.json'))
  expect(existsSync(join(fixture.user, '.claude'))).toBe(false)
})

test('install refuses invalid JSON settings with exit code 4 and changes nothing', async () => {
  const fixture = createTestHome()
  const settings = fixture.put(join(fixture.user, '.claude', 'settings.json'), '{ // mine\n}')
  const ran = await fixture.run(['install', '--json'])
  expect(ran).toMatchObject({ code: 4, stdout: '' })
  expect(JSON.parse(ran.stderr)).toMatchObject({ code: 4, path: settings })
  expect(readFileSync(settings, 'utf8')).toBe('{ // mine\n}')
  expect(readdirSync(fixture.dir)).toEqual(['me'])
})

test('install adds no plugin module to an old client, and does not wait for a client that hangs', async () => {
  const fixture = createTestHome()
  const claude = (text: string) => chmodSync(fixture.put(join(fixture.dir, 'bin', 'claude'), text), 0o755)
  const env = { PATH: `${join(fixture.dir, 'bin')}:${fixture.env.PATH}` }
  claude('#!/bin/sh\necho "2.0.1 (Claude Code)"\n')
  const old = (await fixture.run(['install', '--dry-run', '--json'], { env })).json
  expect(old.notes).toEqual([expect.stringContaining('Claude Code 2.0.1 loads no plugin modules')])
  expect(old.files.some((file: { path: string }) => file.path.includes('skills'))).toBe(false)
  claude('#!/bin/sh\nexec sleep 600\n')
  expect(await fixture.run(['install'], { env })).toMatchObject({ code: 0 })
})

test('uninstall restores the settings and keeps the data, and --purge keeps only the configuration', async () => {
  const fixture = createTestHome()
  const settings = fixture.put(join(fixture.user, '.claude', 'settings.json'), SETTINGS)
  await fixture.run(['install'])
  await fixture.run(['status'])
  const dry = await fixture.run(['uninstall', '--dry-run', '--json'])
  expect(dry.json).toMatchObject({ changed: true, dry_run: true, purged: false })
  expect(readFileSync(settings, 'utf8')).not.toBe(SETTINGS)
  const done = await fixture.run(['uninstall', '--keep-data'])
  expect(done.stdout).toMatch(/^Baton is uninstalled\.\n {2}restored ~\/\.claude\/settings\.json/)
  expect(done.stdout).toContain(`stays in ${fixture.env.BATON_HOME}`)
  expect(readFileSync(settings, 'utf8')).toBe(SETTINGS)
  expect(readdirSync(join(fixture.user, '.claude'))).toEqual(['settings.json'])
  expect(existsSync(join(fixture.env.BATON_HOME!, 'baton.db'))).toBe(true)

  const config = fixture.put(join(fixture.env.BATON_HOME!, 'config.yaml'), 'enabled: true\n')
  const purged = await fixture.run(['uninstall', '--purge'])
  expect(purged.stdout).toContain('Baton is not installed.')
  expect(purged.stdout).toContain(`kept ${config}: your configuration`)
  expect(readdirSync(fixture.env.BATON_HOME!)).toEqual(['config.yaml'])
})

test('uninstall --purge removes all of Baton’s files in its home and keeps files of others', async () => {
  const fixture = createTestHome()
  const home = batonHome(fixture.env)
  const { index, folder } = archivePaths(home.root)
  const rest = [
    index,
    folder,
    waitingHooksFolder(home.live),
    `${home.store}.damaged`,
    `${home.log}.1`,
    join(home.root, 'backups'),
  ]
  // Baton does not use a home in which its folders are files.
  const isFolder = (path: string): boolean => existsSync(path) || [home.spool, home.outbox, home.live].includes(path)
  for (const path of [...Object.values(home), ...rest])
    if (path !== home.root) fixture.put(isFolder(path) ? join(path, 'x') : path, 'x')
  fixture.put(join(home.root, 'mine.txt'), 'x')
  expect(existsSync(home.facts)).toBe(true)
  expect(await fixture.run(['uninstall', '--purge'])).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(home.root).sort()).toEqual(['config.yaml', 'mine.txt'])
})

test('uninstall --purge without a configuration also removes the folders', async () => {
  const fixture = createTestHome()
  const { BATON_HOME: _, ...env } = fixture.env
  const run = (...args: string[]) => {
    const ran = spawnSync(process.execPath, [BATON, ...args], { cwd: fixture.project, env, encoding: 'utf8' })
    return new FinishedCommand(ran.status, ran.stdout, ran.stderr)
  }
  run('install')
  run('status')
  expect(existsSync(join(fixture.user, '.local', 'share', 'baton', 'baton.db'))).toBe(true)
  expect(run('uninstall', '--purge', '--json').json).toMatchObject({ changed: true, purged: true })
  expect(existsSync(join(fixture.user, '.local', 'share', 'baton'))).toBe(false)
  expect(existsSync(join(fixture.user, '.local', 'state', 'baton'))).toBe(false)
  expect(existsSync(join(fixture.user, '.claude'))).toBe(false)
})

test('uninstall --purge asks on a terminal, names the data’s size, and deletes nothing after a no', async () => {
  const fixture = createTestHome()
  await fixture.run(['install'])
  await fixture.run(['status'])
  const store = join(fixture.env.BATON_HOME!, 'baton.db')
  const inTerminal = (args: string, input: string) =>
    spawnSync('script', ['-qec', `stty cols 200; ${process.execPath} ${BATON} uninstall ${args}`, '/dev/null'], {
      cwd: fixture.project,
      env: { ...fixture.env, TERM: 'xterm', NO_COLOR: '1' },
      encoding: 'utf8',
      input,
    })
  const refused = inTerminal('--purge', 'n\n')
  expect(refused.status).toBe(4)
  expect(refused.stdout).toMatch(/This deletes what Baton stored in .* \([\d.]+ [kM]?B\)[\s\S]* baton\.db\r?\n/)
  expect(refused.stdout).toContain('Delete it? [y/N]')
  expect(existsSync(store)).toBe(true)
  expect(existsSync(join(fixture.user, '.claude', 'settings.json'))).toBe(true)
  expect(inTerminal('--purge --dry-run', '').stdout).not.toContain('Delete it?')

  expect(inTerminal('--purge', 'y\n').status).toBe(0)
  expect(existsSync(store)).toBe(false)
  await fixture.run(['status'])
  expect(existsSync(store)).toBe(true)
  const unasked = inTerminal('--purge --yes', '')
  expect(unasked.stdout).not.toContain('Delete it?')
  expect(existsSync(store)).toBe(false)
})

test('uninstall --purge is refused while a server uses the home, and with contradicting options', async () => {
  const fixture = createTestHome()
  await fixture.run(['install'])
  const server = fixture.start(['serve', '--port', '0', '--json'])
  await server.firstLine()
  expect(await fixture.run(['uninstall', '--purge'])).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringMatching(/Cannot purge this home[\s\S]*\bkill \d+\b/),
  })
  expect(existsSync(join(fixture.user, '.claude', 'settings.json'))).toBe(true)
  await server.stop()
  expect(await fixture.run(['uninstall', '--purge', '--keep-data'])).toMatchObject({ code: 2, stdout: '' })
  expect(await fixture.run(['uninstall', '--purge', '--scope', 'user'])).toMatchObject({ code: 2, stdout: '' })
})

test('after an install the real client appears in status with its exact figures', async () => {
  const model = await startModel({
    script: {
      steps: [
        { bash: 'echo a', used: 60_008 },
        { bash: 'echo b', used: 118_600 },
        { text: 'Done.', used: 119_000 },
      ],
    },
  })
  const home = makeHome({ model })
  home.onDispose(() => model.close())
  const baton = (...args: string[]) => {
    const ran = spawnSync(process.execPath, [BATON, ...args], { cwd: home.project, env: home.env, encoding: 'utf8' })
    return new FinishedCommand(ran.status, ran.stdout, ran.stderr)
  }
  expect(baton('install', '--json').json.changed).toBe(true)
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  const { sessions } = baton('status', '--json').json
  expect(sessions).toMatchObject([
    {
      session_id: run.sessionId,
      state: 'ended',
      project: home.project,
      model: 'claude-opus-4-6',
      used_tokens: 119_000,
      compaction_tokens: 167_000,
      exact: true,
      level: 'warning',
    },
  ])
  expect(baton('events', '--json', '--session', run.sessionId!).stdout.match(/"context_warning"/g)).toHaveLength(1)
  expect(baton('uninstall').code).toBe(0)
  expect(home.readSettings()).toEqual({ skipDangerousModePermissionPrompt: true })
})
