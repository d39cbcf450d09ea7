import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { pasteBuffer, readPane } from '../../src/delivery/channels/tmux-pane.js'
import { fileLog } from '../../src/lib/log.js'
import { openFullTextDatabase } from '../../src/store/sqlite/driver.js'
import { liveThrough, type Machine, machine, startBaton } from '../harness/full-life.js'
import type { HomeOptions } from '../harness/home.js'
import { pretend } from '../harness/hooks.js'
import {
  attackAsOtherUser,
  evaluateAsOtherUser,
  folderOfOtherUser,
  OTHER_UID,
  runAsOtherUser,
} from '../harness/other-user.js'
import { BATON } from '../harness/paths.js'
import { end } from '../harness/processes.js'
import { serverToken } from '../harness/server-token.js'
import { until } from '../harness/wait.js'

/** Sets the umask of this process, which every process started by the test inherits. */
function withUmask(mask: number): void {
  const before = process.umask(mask)
  onTestFinished(() => void process.umask(before))
}

const everythingIn = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[]).map((name) => path.join(folder, name)).sort()

/** Returns paths whose own mode grants access to others, regardless of their parent folders. */
const openToOthers = (paths: readonly string[]): string[] =>
  paths.flatMap((file) => {
    const stat = lstatSync(file)
    const mode = (stat.mode & 0o777).toString(8)
    return !stat.isSymbolicLink() && (stat.mode & 0o077) !== 0 ? [`${mode} ${file}`] : []
  })

/** Tries, as another user, to read, write and list each of these known paths. */
function reachOfOtherUser(paths: readonly string[]): Promise<{ read: string[]; written: string[]; entered: string[] }> {
  return evaluateAsOtherUser(`
    import { closeSync, constants, openSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
    const can = (work) => { try { work(); return true } catch { return false } }
    const opens = (file, flags) => can(() => closeSync(openSync(file, flags | constants.O_NONBLOCK)))
    const reach = { read: [], written: [], entered: [] }
    for (const file of ${JSON.stringify(paths)}) {
      if (opens(file, constants.O_RDONLY) || can(() => readdirSync(file))) reach.read.push(file)
      if (opens(file, constants.O_WRONLY)) reach.written.push(file)
      if (can(() => writeFileSync(file + '/planted', ''))) { reach.entered.push(file); unlinkSync(file + '/planted') }
    }
    console.log(JSON.stringify(reach))`)
}

/** Makes a home with the usual mode of folders, which lets others list it. */
function listableHome(options: HomeOptions = {}): Machine {
  const it = machine(true, options)
  chmodSync(it.home.dir, 0o755)
  mkdirSync(it.root)
  chmodSync(it.root, 0o755)
  return it
}

const NOTHING = { read: [], written: [], entered: [] }

/**
 * A listable home that Baton filled under umask 000, shared by the attacks of this file that only
 * look at it.
 */
let filled: Promise<Machine> | null = null

function filledHome(): Promise<Machine> {
  withUmask(0o000)
  filled ??= fillHome()
  return filled
}

async function fillHome(): Promise<Machine> {
  const it = listableHome({ shared: true })
  it.baton('install')
  await liveThrough(it)
  return it
}

afterAll(async () => (await filled)?.home.dispose())

// Umask 000 is the weakest case, because a stricter umask only removes permissions.
attackAsOtherUser('another user reads, writes and lists nothing of Baton with umask 000', async () => {
  const it = await filledHome()
  const paths = everythingIn(it.root)
  expect(paths.length).toBeGreaterThan(30)
  expect(await reachOfOtherUser([it.root, ...paths])).toEqual(NOTHING)
  // Repeat with an open home. The control file proves that no parent folder stops the attacker.
  chmodSync(it.root, 0o755)
  const control = path.join(it.root, 'control')
  writeFileSync(control, 'x')
  chmodSync(control, 0o666)
  const reach = await reachOfOtherUser([...paths, control])
  rmSync(control)
  chmodSync(it.root, 0o700)
  expect(reach).toEqual({ ...NOTHING, read: [control], written: [control] })
})

test('only its owner can access each file and folder that Baton makes with umask 000', async () => {
  const it = await filledHome()
  expect(openToOthers(everythingIn(it.root))).toEqual([])
})

test('only its owner can access each file and folder from the moment Baton creates it with umask 000', async () => {
  withUmask(0)
  const it = listableHome()
  const report = path.join(it.home.dir, 'report')
  Object.assign(it.env, {
    NODE_OPTIONS: `--require=${path.join(import.meta.dirname, '..', 'harness', 'record-open-modes.cjs')}`,
    WATCHED_FOLDER: it.root,
    WATCHED_REPORT: report,
  })
  it.baton('install')
  await liveThrough(it)
  // Hooks run without NODE_OPTIONS, so an archive is also made by a command, on an empty archive
  // folder.
  rmSync(path.join(it.root, 'archive'), { recursive: true })
  const [session] = JSON.parse(it.baton('archive', 'list', '--json').stdout).archives
  expect(it.baton('archive', 'keep', session.session_id).code).toBe(0)
  const made = readFileSync(report, 'utf8').trim().split('\n')
  for (const name of ['.key', 'jobs/', 'archive/.', 'briefs/', 'messages/', 'run/'])
    expect(
      made.some((line) => line.includes(path.join(it.root, name))),
      name,
    ).toBe(true)
  expect(made.filter((line) => !line.startsWith('private '))).toEqual([])
})

attackAsOtherUser('another user who polls all folders opens no file while Baton writes with umask 000', async () => {
  withUmask(0)
  const it = listableHome()
  const temporary = it.env.TMPDIR!
  chmodSync(temporary, 0o1777)
  it.baton('install')
  // Baton restricts its home itself. With the home kept open, each file must be private from its
  // creation on.
  const opener = spawn('/bin/sh', ['-c', 'while :; do chmod 755 "$1"; done', 'sh', it.root])
  onTestFinished(() => void opener.kill('SIGKILL'))
  const watcher = watchAsOtherUser([it.root, temporary])
  await watcher.looking()
  await liveThrough(it)
  expect(await watcher.opened()).toEqual([])
})

attackAsOtherUser(
  'another user cannot read the data, the log and the token in the default places with umask 000',
  async () => {
    withUmask(0)
    const it = machine(false)
    for (const folder of [it.home.dir, it.home.home]) chmodSync(folder, 0o755)
    it.baton('install')
    await liveThrough({ ...it, env: { ...it.env, BATON_LOG: 'debug' } })
    const paths = ['.local/share/baton', '.local/state/baton'].flatMap((name) => {
      const folder = path.join(it.home.home, name)
      return existsSync(folder) ? [folder, ...everythingIn(folder)] : []
    })
    expect(paths.length).toBeGreaterThan(30)
    expect(openToOthers(paths)).toEqual([])
    expect(await reachOfOtherUser(paths)).toEqual(NOTHING)
  },
)

attackAsOtherUser('another user cannot read the copy of a brief that is open in an editor', async () => {
  const it = await filledHome()
  chmodSync(it.env.TMPDIR!, 0o1777)
  const gate = makePipe(it, 'gate')
  const editor = path.join(it.home.dir, 'editor')
  writeFileSync(editor, `#!/bin/sh\necho "$1" > '${it.home.dir}/edited'\ncat '${gate}'\n`, { mode: 0o755 })
  const [brief] = JSON.parse(it.baton('handoffs', 'list', '--json').stdout).briefs
  startBaton({ ...it, env: { ...it.env, EDITOR: editor } }, 'handoffs', 'edit', brief.brief_id)
  const copy = await until(
    'the editor',
    () => existsSync(`${it.home.dir}/edited`) && readFileSync(`${it.home.dir}/edited`, 'utf8').trim(),
  )
  expect(readFileSync(copy as string, 'utf8')).toContain('Goal and why')
  expect(await reachOfOtherUser([path.dirname(copy as string), copy as string])).toEqual(NOTHING)
  writeFileSync(gate, '')
})

attackAsOtherUser('another user cannot read a restored or exported transcript with umask 000', async () => {
  const it = await filledHome()
  const [archive] = JSON.parse(it.baton('archive', 'list', '--json').stdout).archives
  const files = ['restored', 'exported'].map((name) => path.join(it.home.dir, name))
  expect(it.baton('archive', 'restore', archive.archive_id, '--to', files[0]!).code).toBe(0)
  expect(it.baton('archive', 'export', archive.archive_id, '--to', files[1]!).code).toBe(0)
  expect(await reachOfOtherUser(files)).toEqual(NOTHING)
})

attackAsOtherUser('another user cannot read the environment of a server or write to its files in run', async () => {
  withUmask(0)
  const it = listableHome()
  it.baton('install')
  const server = startBaton(it, 'serve', '--port', '0', '--json')
  await server.firstLine()
  chmodSync(it.root, 0o755)
  const files = [`/proc/${server.child.pid}/environ`, ...everythingIn(path.join(it.root, 'run'))]
  expect(files.length).toBeGreaterThan(2)
  expect(await reachOfOtherUser(files)).toEqual(NOTHING)
})

attackAsOtherUser(
  'the command lines of a server and its hooks tell another user neither token nor conversation',
  async () => {
    const it = listableHome()
    it.baton('install')
    const server = startBaton(it, 'serve', '--port', '0', '--json')
    await server.firstLine()
    const token = serverToken(it.root)
    const session = pretend(it.home, process.pid)
    await session.hook('SessionStart', { source: 'startup' })
    const seen = commandLinesAsOtherUser()
    await seen.looking()
    // A stopped server holds the hook until its patience ends, with the signal and the token in its
    // memory.
    process.kill(server.child.pid!, 'SIGSTOP')
    try {
      await session.hook('UserPromptSubmit', { prompt: SECRET })
      await session.hook('UserPromptSubmit', { prompt: SECRET.repeat(500) })
    } finally {
      process.kill(server.child.pid!, 'SIGCONT')
    }
    const lines = await seen.all()
    expect(lines.some((line) => line.includes(path.join(it.root, 'bin', 'hook')))).toBe(true)
    expect(lines.filter((line) => line.includes(token) || line.includes(SECRET))).toEqual([])
  },
)

attackAsOtherUser('the command lines of a job and of its client do not tell another user the prompt', async () => {
  const it = listableHome()
  it.baton('install')
  const gate = makePipe(it, 'client')
  const client = path.join(it.home.dir, 'bin', 'claude')
  writeFileSync(client, `#!/bin/sh\n[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }\ncat '${gate}'\n`, {
    mode: 0o755,
  })
  const prompt = path.join(it.home.dir, 'prompt')
  writeFileSync(prompt, SECRET)
  const seen = commandLinesAsOtherUser()
  await seen.looking()
  const job = JSON.parse(it.baton('run', '--prompt-file', prompt, '--check', 'true', '--detach', '--json').stdout)
  await until('the client', async () => (await seen.now()).some((line) => line.includes('stream-json')))
  const lines = await seen.all()
  expect(lines.some((line) => line.includes(job.job_id))).toBe(true)
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([])
  it.baton('jobs', 'cancel', job.job_id)
})

attackAsOtherUser(
  'the command line of a search on the page does not tell another user what was searched for',
  async () => {
    const it = await filledHome()
    const server = startBaton(it, 'serve', '--port', '0', '--json')
    const { url } = JSON.parse(await server.firstLine())
    const token = serverToken(it.root)
    const seen = commandLinesAsOtherUser()
    await seen.looking()
    // A write lock on the index delays the search, so that its process can be inspected.
    const index = openFullTextDatabase(path.join(it.root, 'archive-index.db'), { timeout: 0 })
    index.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    const answer = fetch(`${url}/api/archives/search?q=${SECRET}`, { headers: { Authorization: `Bearer ${token}` } })
    try {
      await until('the search', async () => (await seen.now()).some((line) => line.includes(' search ')))
    } finally {
      index.exec('ROLLBACK')
      index.close()
    }
    expect((await answer).status).toBe(200)
    expect((await seen.all()).filter((line) => line.includes(SECRET))).toEqual([])
  },
)

test('text that is typed into a terminal is not on the command line of tmux', async () => {
  const it = machine(true)
  const argv = path.join(it.home.dir, 'argv')
  const [socket, bin] = [path.join(it.home.dir, 's'), path.join(it.home.dir, 'bin')]
  const real = spawnSync('/bin/sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).stdout.trim()
  expect(spawnSync(real, ['-S', socket, '-f', '/dev/null', 'new-session', '-d', 'exec cat']).status).toBe(0)
  onTestFinished(() => void spawnSync(real, ['-S', socket, 'kill-server']))
  writeFileSync(path.join(bin, 'tmux'), `#!/bin/sh\nprintf '%s ' "$@" >> '${argv}'\nexec '${real}' "$@"\n`, {
    mode: 0o755,
  })
  const before = process.env.PATH
  process.env.PATH = `${bin}:${before}`
  onTestFinished(() => {
    process.env.PATH = before
  })
  const pane = { socket, pane: '%0' }
  const look = await readPane(pane, { name: 'b1', text: SECRET })
  expect(look).not.toBeNull()
  expect(await pasteBuffer(pane, look!, 'b1')).toBe(true)
  await until('the text', () =>
    spawnSync(real, ['-S', socket, 'capture-pane', '-p', '-t', '%0'], { encoding: 'utf8' }).stdout.includes(SECRET),
  )
  expect(readFileSync(argv, 'utf8')).toContain('paste-buffer')
  expect(readFileSync(argv, 'utf8')).not.toContain(SECRET)
})

for (const [what, plant] of [
  ['a link to a file of the user', 'symlinkSync(process.argv[1], process.argv[2])'],
  ['a link to a file that does not exist yet', 'symlinkSync(process.argv[1] + "-new", process.argv[2])'],
  ['a file that everybody can read', 'writeFileSync(process.argv[2], "", { mode: 0o666 })'],
  ['a pipe', 'execFileSync("mkfifo", ["-m", "666", process.argv[2]])'],
] as const) {
  attackAsOtherUser(`the log is not written to a file that another user put in its place: ${what}`, async () => {
    const shared = folderOfOtherUser()
    chmodSync(shared, 0o777)
    const theirs = folderOfOtherUser()
    const [precious, log] = [path.join(theirs, 'precious'), path.join(shared, 'baton.log')]
    writeFileSync(precious, 'before')
    const source = `import { symlinkSync, writeFileSync } from 'node:fs'
      import { execFileSync } from 'node:child_process'
      ${plant}`
    const planted = await runAsOtherUser(process.execPath, ['--input-type=module', '-e', source, precious, log])
    expect(planted).toMatchObject({ code: 0 })
    const before = lstatSync(log)
    fileLog(log, {})('error', SECRET)
    expect(readFileSync(precious, 'utf8')).toBe('before')
    expect(readdirSync(theirs)).toEqual(['precious'])
    expect(lstatSync(log)).toMatchObject({ ino: before.ino, size: before.size })
  })
}

test('the log still follows a link that the user made', () => {
  const it = machine(true)
  const [file, link] = [path.join(it.home.dir, 'elsewhere.log'), path.join(it.home.dir, 'baton.log')]
  writeFileSync(file, '')
  symlinkSync(file, link)
  fileLog(link, {})('error', 'text')
  expect(readFileSync(file, 'utf8')).toContain('text')
})

/** Folders of the home without files of the user, which a purge removes completely. */
const WHOLE_PLACES = ['jobs', 'code', 'live', 'spool', 'outbox', 'facts', 'messages', 'backups', 'run', 'waiters']

test('a purge deletes nothing behind links that were put in place of folders of the home', () => {
  const it = machine(true)
  it.baton('install')
  const places = WHOLE_PLACES.filter((name) => name !== 'spool') // A home with a linked spool is not used at all.
  const precious = places.map((name) => {
    const docs = path.join(it.home.dir, 'docs', name)
    mkdirSync(path.join(docs, 'deep'), { recursive: true, mode: 0o700 })
    writeFileSync(path.join(docs, 'deep', 'precious'), name)
    rmSync(path.join(it.root, name), { recursive: true, force: true })
    symlinkSync(docs, path.join(it.root, name))
    return path.join(docs, 'deep', 'precious')
  })
  const paths = (...args: string[]): string[] =>
    JSON.parse(it.baton('uninstall', '--purge', '--json', ...args).stdout).left.map((one: { path: string }) => one.path)
  const dry = paths('--dry-run')
  expect(dry.sort()).toEqual(places.map((name) => path.join(it.home.dir, 'docs', name)).sort())
  expect(paths().sort()).toEqual(dry)
  expect(precious.filter((file) => !existsSync(file))).toEqual([])
  expect(existsSync(it.root)).toBe(false)
})

test('a purge deletes only files with names of Baton behind links in place of archive, briefs and bin', () => {
  const it = machine(true)
  it.baton('install')
  const stem = 's1_20260101T101010.000000Z_auto'
  const names = {
    archive: ['pending/mine', 'records/mine.json', 'mine.txt', 'jobs/log'],
    briefs: ['blog/2024-post.md', '2024-post.md'],
    bin: ['my-tool', 'deep/hook'],
  }
  const own = ['archive/pending/arc_1.0', `archive/${stem}.jsonl.br`, `archive/records/${stem}.json`]
  const put = (name: string): string => {
    const file = path.join(it.home.dir, 'docs', name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, 'x')
    return file
  }
  const batons = [...own, 'briefs/seat_1/0001-brief_1.md', 'bin/hook'].map(put)
  const precious = Object.entries(names).flatMap(([place, files]) => files.map((name) => put(`${place}/${name}`)))
  for (const place of Object.keys(names)) {
    rmSync(path.join(it.root, place), { recursive: true, force: true })
    symlinkSync(path.join(it.home.dir, 'docs', place), path.join(it.root, place))
  }
  const dry = JSON.parse(it.baton('uninstall', '--purge', '--json', '--dry-run').stdout).left
  expect(dry).toHaveLength(precious.length)
  expect(batons.filter((file) => !existsSync(file))).toEqual([])
  expect(JSON.parse(it.baton('uninstall', '--purge', '--json').stdout).left).toEqual(dry)
  expect(precious.filter((file) => !existsSync(file))).toEqual([])
  expect(batons.filter((file) => existsSync(file))).toEqual([])
})

test('a purge deletes nothing in a folder of the user that BATON_HOME links to', () => {
  const it = machine(true)
  const docs = path.join(it.home.dir, 'docs')
  for (const name of WHOLE_PLACES) {
    mkdirSync(path.join(docs, name), { recursive: true, mode: 0o700 })
    writeFileSync(path.join(docs, name, 'precious'), name)
  }
  writeFileSync(path.join(docs, 'config.yaml'), 'enabled: true\n')
  const before = everythingIn(docs)
  chmodSync(docs, 0o700)
  symlinkSync(docs, it.root)
  it.env.BATON_HOME = `${it.root}/`
  const dry = it.baton('uninstall', '--purge', '--dry-run')
  expect(dry.stdout).toContain('only the link would be removed')
  const { left } = JSON.parse(it.baton('uninstall', '--purge', '--dry-run', '--json').stdout)
  expect(left.map((one: { path: string }) => one.path)).toEqual([docs])
  expect(JSON.parse(it.baton('uninstall', '--purge', '--json').stdout).left).toEqual(left)
  expect(everythingIn(docs)).toEqual(before)
  expect(lstatSync(it.root, { throwIfNoEntry: false })).toBeUndefined()
})

/**
 * Runs a script in a root folder of its own ($1/root), on a temporary file system, and lists that
 * folder before and after. The machine's folders are there read-only, except $1, and /run, which
 * has the name of a folder of Baton and is empty.
 */
const IN_OWN_ROOT = `set -e
root=$1/root
mkdir "$root"
mount -t tmpfs -o mode=755 none "$root"
for entry in /*; do
  if [ -L "$entry" ]; then cp -P "$entry" "$root$entry"
  elif [ "$entry" = /run ]; then mkdir "$root$entry"
  elif [ -d "$entry" ]; then
    mkdir "$root$entry"
    mount --rbind "$entry" "$root$entry"
    mount -o remount,bind,ro "$root$entry"
  fi
done
mount --bind "$1" "$root$1"
look() { stat -c '%n %a' "$root" "$root/run"; ls -A "$root" "$root/run"; }
look >"$1/before"
chroot "$root" /bin/sh -c "$2"
look >"$1/after"`

const canMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
if (!canMount) console.warn('attack not run, because it needs a mount namespace: BATON_HOME=/ as root')

test.skipIf(!canMount).each(['/', '/usr/..'])(
  'hooks and commands of root make and change nothing in the root folder with BATON_HOME=%s',
  (home) => {
    const it = machine(true)
    it.baton('install')
    const hook = path.join(it.root, 'bin', 'hook')
    const kinds = ['PostToolBatch', 'Stop', 'PreCompact', 'waiter', 'status-line']
    const commands = ['status', 'install', 'doctor --fix']
    const script = [
      // A waiter that does start ends only by a signal.
      ...kinds.map((kind) => `echo '{"session_id":"s1"}' | timeout 20 '${hook}' ${kind}; echo "${kind} $?"`),
      ...commands.map((one) => `'${process.execPath}' '${BATON}' ${one} >/dev/null 2>&1; echo "${one} $?"`),
    ].join('\n')
    const client = { CLAUDE_PID: '1', CLAUDE_CODE_SESSION_ID: 's1', CLAUDE_CODE_SESSION_ATTENDED: '1' }
    const { dir } = it.home
    const ran = spawnSync('unshare', ['-m', 'sh', '-c', IN_OWN_ROOT, 'sh', dir, script], {
      env: { ...it.env, ...client, BATON_HOME: home },
      encoding: 'utf8',
    })
    expect(ran).toMatchObject({ status: 0, stderr: '' })
    expect(ran.stdout.trim().split('\n')).toEqual([
      ...kinds.map((kind) => `${kind} 0`),
      ...commands.map((one) => `${one} 1`),
    ])
    expect(readFileSync(path.join(dir, 'after'), 'utf8')).toBe(readFileSync(path.join(dir, 'before'), 'utf8'))
  },
)

const SECRET = 'secretWordOfTheConversation'

function makePipe({ home }: Machine, name: string): string {
  const pipe = path.join(home.dir, name)
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
  return pipe
}

/** Runs the attacker's program, which prints lines until the test ends it. */
function spyAsOtherUser(source: string): { looking(): Promise<unknown>; now(): string[]; end(): Promise<string[]> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    uid: OTHER_UID,
    gid: OTHER_UID,
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await end(child.pid!)
  })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const lines = (): string[] => out.split('\n').filter((line) => line !== '' && line !== 'looking')
  return {
    looking: () => until('the spy', () => out.includes('looking')),
    now: lines,
    async end() {
      await end(child.pid!)
      return lines()
    },
  }
}

/**
 * Walks folders repeatedly and prints each file that it can open and each subfolder that it can
 * list.
 */
function watchAsOtherUser(folders: readonly string[]) {
  const spy = spyAsOtherUser(`
    import { closeSync, constants, openSync, readdirSync } from 'node:fs'
    const seen = new Set()
    const tell = (file) => { if (!seen.has(file)) { seen.add(file); console.log(file) } }
    const look = (folder, isTop) => {
      let entries = []
      try { entries = readdirSync(folder, { withFileTypes: true }); if (!isTop) tell(folder) } catch { return }
      for (const entry of entries) {
        const file = folder + '/' + entry.name
        if (entry.isDirectory()) look(file, false)
        else for (const flag of [constants.O_RDONLY, constants.O_WRONLY])
          try { closeSync(openSync(file, flag | constants.O_NONBLOCK | constants.O_NOFOLLOW)); tell(file) } catch {}
      }
    }
    console.log('looking')
    setInterval(() => { for (const folder of ${JSON.stringify(folders)}) look(folder, true) }, 1)`)
  return { looking: spy.looking, opened: spy.end }
}

/** Notes the command line of every process of the machine, as \`ps\` shows them to everybody. */
function commandLinesAsOtherUser() {
  const spy = spyAsOtherUser(`
    import { readdirSync, readFileSync } from 'node:fs'
    const seen = new Set()
    console.log('looking')
    setInterval(() => {
      for (const pid of readdirSync('/proc')) {
        if (!/^\\d+$/.test(pid)) continue
        let line = ''
        try { line = readFileSync('/proc/' + pid + '/cmdline', 'utf8') } catch {}
        line = line.replaceAll('\\0', ' ').replaceAll('\\n', ' ')
        if (line !== '' && !seen.has(line)) { seen.add(line); console.log(line) }
      }
    }, 1)`)
  return { looking: spy.looking, now: spy.now, all: spy.end }
}
