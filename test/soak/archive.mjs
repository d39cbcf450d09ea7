// Archives transcripts of 200 MB while processes are killed and the disk fills up.
// node test/soak/archive.mjs
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { writeConversation } from '../../bench/archive-samples.mjs'
import { BATON, makeMachine, pause, temporary } from '../../bench/machine.mjs'
import { end, prove } from './prove.mjs'

const MB = 1024 * 1024
const SESSION = 'a5c41fe0-0000-4000-8000-000000000000'

console.log('archive: a transcript of 200 MB whose keepers are killed')
const machine = makeMachine('archive')
const transcript = join(machine.project, `${SESSION}.jsonl`)
writeConversation(transcript, { sessionId: SESSION, bytes: 200 * MB, seed: 11, marks: ['the heron left at noon'] })
tellSession(machine, transcript)

const size = statSync(transcript).size
const first = run(machine, 'keep', SESSION)
const folder = join(machine.batonHome, 'archive')
while (!existsSync(folder) || !readdirSync(folder).some((name) => name.startsWith('.'))) await pause(1)
first.kill('SIGKILL')
for (let i = 0; i < 12; i++) {
  const keeper = run(machine, 'finish')
  await pause(100 + i * 90)
  keeper.kill('SIGKILL')
}
// The client keeps writing its transcript meanwhile.
appendFileSync(transcript, `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'later' } })}\n`)
machine.baton('archive', 'finish', '--json')
const { archives } = JSON.parse(machine.baton('archive', 'list', '--json'))
const [kept] = archives
prove(
  archives.length === 1 && kept.status === 'kept',
  'one archive, kept',
  JSON.stringify(archives.map(({ status }) => status)),
)
prove(kept?.bytes === size, 'of the bytes that were there when it was planned', `${kept?.bytes} of ${size}`)
const restored = join(temporary('restored'), 'r.jsonl')
machine.baton('archive', 'restore', kept.archive_id, '--to', restored)
prove((await hashOf(restored)) === (await hashOf(transcript, size)), 'restored byte for byte')
prove(JSON.parse(tryBaton(machine, 'archive', 'verify', '--json')).ok, 'nothing half, nothing left over')
prove(
  JSON.parse(machine.baton('archive', 'search', '"heron left"', '--json')).hits.length === 1,
  'a phrase said once is found once',
)
machine.remove()

const disk = join(temporary('disk'), 'mounted')
mkdirSync(disk)
try {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', disk], { stdio: 'ignore' })
} catch {
  console.log('archive: the full disk is left out, a small one cannot be mounted here (run as root on Linux)')
  end()
}
process.prependListener('exit', () => execFileSync('umount', ['-l', disk], { stdio: 'ignore' }))
console.log('archive: a disk that is full')
const small = makeMachine('archive-disk', { batonHome: join(disk, 'baton') })
const other = join(small.project, `${SESSION}.jsonl`)
writeConversation(other, { sessionId: SESSION, bytes: 20 * MB, seed: 12 })
tellSession(small, other)
writeFileSync(join(disk, 'ballast'), Buffer.alloc(room(disk) - 2 * MB))
const failed = tryBaton(small, 'archive', 'keep', SESSION)
prove(/no space|No space/.test(failed), 'without room it says so', failed.split('\n')[0])
prove(
  readdirSync(join(disk, 'baton', 'archive')).every((name) => !name.startsWith('.')),
  'and leaves nothing half behind',
)
rmSync(join(disk, 'ballast'))
tryBaton(small, 'archive', 'keep', SESSION)
const after = JSON.parse(small.baton('archive', 'list', '--json')).archives
prove(after[0]?.status === 'kept', 'with room again it keeps', JSON.stringify(after.map(({ status }) => status)))
prove(JSON.parse(tryBaton(small, 'archive', 'verify', '--json')).ok, 'and everything is whole')
small.remove()
end()

function run({ env, project }, ...args) {
  return spawn(process.execPath, [BATON, 'archive', ...args], { env, cwd: project, stdio: 'ignore' })
}

function tryBaton({ env, project }, ...args) {
  try {
    return execFileSync(process.execPath, [BATON, ...args], { env, cwd: project, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return String(error.stdout || error.stderr)
  }
}

function tellSession({ env, project }, path) {
  const input = JSON.stringify({
    session_id: SESSION,
    transcript_path: path,
    cwd: project,
    version: '2.1.325',
    model: { id: 'claude-opus-4-6' },
    workspace: { current_dir: project, project_dir: project },
  })
  execFileSync(process.execPath, [BATON, 'statusline'], { env, cwd: project, input })
}

function room(folder) {
  const [, line] = execFileSync('df', ['-B1', '--output=avail', folder], { encoding: 'utf8' }).trim().split('\n')
  return Number(line)
}

async function hashOf(path, bytes = Number.POSITIVE_INFINITY) {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk)
  return hash.digest('hex')
}
