import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { liveThrough, machine, startBaton } from '../harness/full-life.js'
import { until } from '../harness/wait.js'

/** Returns every path below a folder with its kind, mode and contents. */
function photograph(folder: string): Record<string, string> {
  const seen: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const file = path.join(folder, name)
    const stat = lstatSync(file)
    const what = stat.isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'no file'
    seen[name] = `${stat.mode.toString(8)} ${what}`
  }
  return seen
}

test.each([
  ['the default places', false],
  ['BATON_HOME', true],
])('a purge after full use leaves the home folder as it was before install, with %s', async (_, own) => {
  const it = machine(own)
  const { home, root, baton } = it
  writeFileSync(path.join(home.configDir, 'settings.json'), '{"model":"opus"}\n')
  const outside = [home.home, home.project]
  const before = outside.map(photograph)
  expect(baton('install')).toMatchObject({ code: 0 })
  expect(baton('serve', 'install')).toMatchObject({ code: 0 })
  await liveThrough(it)
  for (const name of ['jobs', 'archive', 'briefs', 'messages', 'baton.db', 'key'])
    expect(existsSync(path.join(root, name)), name).toBe(true)
  writeFileSync(`${path.join(root, 'baton.db')}.damaged`, 'moved aside')

  const dry = baton('uninstall', '--purge', '--dry-run')
  expect(dry.code).toBe(0)
  expect(existsSync(path.join(root, 'jobs'))).toBe(true)
  const done = baton('uninstall', '--purge', '--json')
  expect(done).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(done.stdout)).toMatchObject({ changed: true, purged: true, left: [] })
  // The client's own transcripts are not Baton's.
  rmSync(path.join(home.configDir, 'projects'), { recursive: true })
  expect(outside.map(photograph)).toEqual(before)
  expect(existsSync(root)).toBe(false)
})

test('a purge names what stays: the configuration, files of the user and worktrees of jobs', () => {
  const { root, baton } = machine(true)
  baton('install')
  expect(
    baton('run', '--prompt', 'Do it.', '--runtime', 'scripted', '--worktree', '--check', 'touch work.txt').code,
  ).toBe(0)
  const { jobs } = JSON.parse(baton('jobs', 'list', '--json').stdout)
  const files = ['config.yaml', 'mine.txt', 'archive/mine.txt', 'bin/my-tool'].map((name) => path.join(root, name))
  for (const file of files) {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, file.endsWith('.yaml') ? 'enabled: true\n' : 'mine')
  }
  const work = path.join(jobs[0].worktree_path, 'work.txt')
  expect(existsSync(work)).toBe(true)
  const { left } = JSON.parse(baton('uninstall', '--purge', '--json').stdout)
  expect(left.map((one: { path: string }) => one.path).sort()).toEqual([...files, path.dirname(work)].sort())
  for (const file of [...files, work]) expect(existsSync(file)).toBe(true)
  expect(readdirSync(root).sort()).toEqual(['archive', 'bin', 'config.yaml', 'mine.txt'])
  expect(JSON.parse(baton('uninstall', '--purge', '--json').stdout).left).toHaveLength(4)
})

test('a purge is refused while a job runs, says how to end it, and removes nothing', async () => {
  const it = machine(true)
  const { home, root, baton } = it
  baton('install')
  const gate = path.join(home.dir, 'gate')
  expect(spawnSync('mkfifo', [gate]).status).toBe(0)
  const job = startBaton(it, 'run', '--prompt', 'x', '--runtime', 'scripted', '--check', `cat '${gate}'`, '--json')
  const running = await until('the job', () => JSON.parse(baton('jobs', 'list', '--json').stdout).jobs[0])
  const refused = baton('uninstall', '--purge')
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.stderr).toContain(running.job_id)
  expect(refused.stderr).toContain('baton jobs cancel')
  expect(existsSync(path.join(root, 'bin', 'hook'))).toBe(true)
  expect(baton('jobs', 'cancel', running.job_id).code).toBe(0)
  await job.over
  expect(baton('uninstall', '--purge')).toMatchObject({ code: 0 })
  expect(existsSync(root)).toBe(false)
})

test('a purge is refused while a server runs that the user started, and removes nothing', async () => {
  const it = machine(true)
  const { root, baton } = it
  baton('install')
  const server = startBaton(it, 'serve', '--port', '0', '--json')
  await server.firstLine()
  expect(baton('uninstall', '--purge')).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/Cannot purge this home[\s\S]*\bkill \d+\b/),
  })
  expect(existsSync(path.join(root, 'baton.db'))).toBe(true)
  server.child.kill('SIGTERM')
  await server.over
  expect(baton('uninstall', '--purge')).toMatchObject({ code: 0 })
  expect(existsSync(root)).toBe(false)
})

test('a purge changes nothing while a service is installed and the user runs a server', async () => {
  const it = machine(true)
  const { home, baton } = it
  baton('install')
  expect(baton('serve', 'install')).toMatchObject({ code: 0 })
  const server = startBaton(it, 'serve', '--port', '0', '--json')
  await server.firstLine()
  const before = photograph(home.home)
  expect(Object.keys(before).filter((name) => name.endsWith('.service'))).toHaveLength(1)
  for (const more of [[], ['--dry-run']])
    expect(baton('uninstall', '--purge', ...more)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`process ${server.child.pid}`),
    })
  expect(photograph(home.home)).toEqual(before)
})

test('a purge stops the server of the installed service', async () => {
  const it = machine(true)
  const { root, baton } = it
  baton('install')
  expect(baton('serve', 'install')).toMatchObject({ code: 0 })
  const server = startBaton(it, 'serve', '--port', '0', '--json')
  await server.firstLine()
  writeFileSync(it.mainPid, `${server.child.pid}\n`)
  expect(baton('uninstall', '--purge', '--dry-run')).toMatchObject({ code: 0 })
  const done = baton('uninstall', '--purge', '--json')
  expect(done).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(done.stdout)).toMatchObject({ purged: true, notes: [] })
  await server.over
  expect(existsSync(root)).toBe(false)
})

test('a damaged store does not prevent its own removal', () => {
  const { root, baton } = machine(true)
  baton('install')
  writeFileSync(path.join(root, 'baton.db'), 'not a database '.repeat(100))
  expect(baton('uninstall', '--purge')).toMatchObject({ code: 0 })
  expect(existsSync(root)).toBe(false)
})
