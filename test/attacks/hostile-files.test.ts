import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { attackAsOtherUser, OTHER_UID } from '../harness/other-user.js'
import { answerLine, makePipe, startVictim, type Victim } from './victim.js'

vi.setConfig({ testTimeout: 480_000, hookTimeout: 480_000 })

const GB = 1024 ** 3
const MB = 1024 ** 2

/**
 * Puts a hostile file into a folder and returns the fields that a hook of a session there sends.
 */
type Trap = (folder: string) => Record<string, unknown>

const linkTo =
  (target: string): Trap =>
  (folder) => {
    symlinkSync(target, path.join(folder, 'x.jsonl'))
    return { transcript_path: path.join(folder, 'x.jsonl') }
  }

function sparse(file: string, size: number): string {
  const fd = openSync(file, 'w')
  ftruncateSync(fd, size)
  closeSync(fd)
  return file
}

/** A `baton.yaml` of this many parts, each made from its number. */
function projectFile(count: number, part: (i: number) => string, head = ''): Trap {
  return (folder) => {
    writeFileSync(path.join(folder, 'baton.yaml'), head + Array.from({ length: count }, (_, i) => part(i)).join(''))
    return {}
  }
}

function repository(folder: string, put: (git: string) => void): Record<string, unknown> {
  mkdirSync(path.join(folder, '.git'))
  put(path.join(folder, '.git'))
  return {}
}

const TRAPS: Record<string, Trap> = {
  'a pipe as transcript': (folder) => {
    makePipe(path.join(folder, 'x.jsonl'))
    return { transcript_path: path.join(folder, 'x.jsonl') }
  },
  'a folder as transcript': (folder) => ({ transcript_path: folder }),
  'a socket as transcript': (folder) => {
    const listener = createServer().listen(path.join(folder, 'x.jsonl'))
    onTestFinished(() => void listener.close())
    return { transcript_path: path.join(folder, 'x.jsonl') }
  },
  'a link to /dev/zero as transcript': linkTo('/dev/zero'),
  'a link to /dev/tty as transcript': linkTo('/dev/tty'),
  'a link to /proc/self/mem as transcript': linkTo('/proc/self/mem'),
  '/proc/kmsg as transcript': () => ({ transcript_path: '/proc/kmsg' }),
  '/proc/self/status as transcript': () => ({ transcript_path: '/proc/self/status' }),
  'a transcript whose path holds a NUL': () => ({ transcript_path: '/tmp/a\0b.jsonl' }),
  'a transcript whose path is a megabyte long': () => ({ transcript_path: `/${'a/'.repeat(MB / 2)}x.jsonl` }),
  'a pipe as transcript of a subagent': (folder) => {
    mkdirSync(path.join(folder, 'x', 'subagents'), { recursive: true })
    writeFileSync(path.join(folder, 'x.jsonl'), '')
    makePipe(path.join(folder, 'x', 'subagents', 'agent-a1.jsonl'))
    return { transcript_path: path.join(folder, 'x.jsonl') }
  },
  'a pipe as description of a subagent': (folder) => {
    mkdirSync(path.join(folder, 'x', 'subagents'), { recursive: true })
    writeFileSync(path.join(folder, 'x.jsonl'), '')
    writeFileSync(path.join(folder, 'x', 'subagents', 'agent-a1.jsonl'), `${answerLine('a1', 1, 5008)}\n`)
    makePipe(path.join(folder, 'x', 'subagents', 'agent-a1.meta.json'))
    return { transcript_path: path.join(folder, 'x.jsonl') }
  },
  'a link to /proc as folder of the subagents': (folder) => {
    mkdirSync(path.join(folder, 'x'))
    symlinkSync('/proc', path.join(folder, 'x', 'subagents'))
    writeFileSync(path.join(folder, 'x.jsonl'), '')
    return { transcript_path: path.join(folder, 'x.jsonl') }
  },
  'a pipe as .git/HEAD': (folder) => repository(folder, (git) => makePipe(path.join(git, 'HEAD'))),
  'a link to /dev/zero as .git/HEAD': (folder) =>
    repository(folder, (git) => symlinkSync('/dev/zero', path.join(git, 'HEAD'))),
  'a link to /dev/zero as .git/config': (folder) =>
    repository(folder, (git) => {
      writeFileSync(path.join(git, 'HEAD'), 'ref: refs/heads/main\n')
      symlinkSync('/dev/zero', path.join(git, 'config'))
    }),
  'a pipe as .git': (folder) => {
    makePipe(path.join(folder, '.git'))
    return {}
  },
  'a .git file that names a folder with a pipe as HEAD': (folder) => {
    mkdirSync(path.join(folder, 'elsewhere'))
    makePipe(path.join(folder, 'elsewhere', 'HEAD'))
    writeFileSync(path.join(folder, '.git'), 'gitdir: elsewhere\n')
    return {}
  },
  'a pipe as baton.yaml': (folder) => {
    makePipe(path.join(folder, 'baton.yaml'))
    return {}
  },
  'a link to /dev/zero as baton.yaml': (folder) => {
    symlinkSync('/dev/zero', path.join(folder, 'baton.yaml'))
    return {}
  },
  'a sparse file of 3 GB as baton.yaml': (folder) => {
    sparse(path.join(folder, 'baton.yaml'), 3 * GB)
    return {}
  },
  'a baton.yaml with 25,000 unknown keys': projectFile(25_000, (i) => `k${i}: x\n`),
  'a baton.yaml of 64 kB with unknown keys': projectFile(7_200, (i) => `k${i}: x\n`),
  'a baton.yaml with as many unknown keys as are read': projectFile(857, (i) => `k${i}: x\n`),
  'a baton.yaml with as many equal keys as are read': projectFile(857, () => 'k: x\n'),
  'a baton.yaml with 64 kB of levels': projectFile(2_500, (i) => `- {name: l${i}, at: ${i + 1_000}}\n`, 'levels:\n'),
  'a baton.yaml with as many levels as are read': projectFile(
    400,
    (i) => `- {name: l${i}, at: ${i + 1_000}}\n`,
    'levels:\n',
  ),
  'a baton.yaml with 12,000 anchors': projectFile(12_000, (i) => `- &a${i} x\n`),
  'a baton.yaml with a position of 9,000 parts': projectFile(9_000, () => ' or 50%', 'levels:\n- name: a\n  at: 50%'),
  'a pipe as settings of the project': (folder) => {
    mkdirSync(path.join(folder, '.claude'))
    makePipe(path.join(folder, '.claude', 'settings.json'))
    makePipe(path.join(folder, '.claude', 'settings.local.json'))
    return {}
  },
  'a working directory that does not exist': () => ({ cwd: '/nonexistent/folder' }),
  'a relative working directory': () => ({ cwd: '../../..' }),
  'a working directory with a NUL in its path': () => ({ cwd: '/tmp/a\0b' }),
  'a working directory whose path is a megabyte long': () => ({ cwd: `/${'a/'.repeat(MB / 2)}` }),
}

/**
 * Pairs of traps for the engine that a hook starts: a transcript and something else. The server
 * meets each trap alone, and both read files with the same code. A baton.yaml that is only large
 * is left to the server, whose sessions it would all block.
 */
function pairsOfTraps(): [string, Trap][] {
  const all = Object.entries(TRAPS).filter(([what]) => !what.startsWith('a baton.yaml'))
  const transcripts = all.filter(([what]) => /transcript|subagent/.test(what))
  const others = all.filter((one) => !transcripts.includes(one))
  return Array.from({ length: Math.max(transcripts.length, others.length) }, (_, i) => {
    const [[one, first], [other, second]] = [transcripts[i % transcripts.length]!, others[i % others.length]!]
    return [`${one} with ${other}`, (folder) => ({ ...first(folder), ...second(folder) })]
  })
}

let sent = 0

describe.each([
  ['with a server', true],
  ['without a server', false],
])('%s', (how, server) => {
  let victim: Victim
  beforeAll(async () => {
    victim = await startVictim({ server, config: 'handoff: {mode: off}\narchive: {enabled: false}\n' })
  })
  afterAll(() => victim?.dispose())

  /**
   * Sends the events that read most files, and checks that Baton processed them and still works.
   */
  const attack = async (trap: Trap, env: Record<string, string> = {}): Promise<string> => {
    const folder = victim.folder()
    const id = `attacked-${++sent}`
    const body = { session_id: id, transcript_path: path.join(folder, 'none.jsonl'), cwd: folder, ...trap(folder) }
    const call = { tool_name: 'Bash', tool_use_id: 'toolu_1' }
    const ends = [
      await victim.hook('PostToolBatch', { ...body, tool_calls: [call] }, { CLAUDE_PROJECT_DIR: folder, ...env }),
      await victim.hook('PreCompact', { ...body, trigger: 'auto' }, { CLAUDE_PROJECT_DIR: folder, ...env }),
      await victim.hook('Stop', { ...body, last_assistant_message: 'Done.' }, { CLAUDE_PROJECT_DIR: folder, ...env }),
    ]
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual(ends.map(() => [0, '']))
    await victim.healthySession(id)
    await victim.allEnded()
    return id
  }

  for (const [what, trap] of server ? Object.entries(TRAPS) : pairsOfTraps())
    test(`${what} blocks neither its own hooks nor another session, ${how}`, async () => {
      await attack(trap)
    })

  test(`a pipe as description of the subagent that a signal names blocks nobody, ${how}`, async () => {
    const folder = victim.folder()
    writeFileSync(path.join(folder, 'agent-a1.jsonl'), `${answerLine('a1', 1, 5008)}\n`)
    makePipe(path.join(folder, 'agent-a1.meta.json'))
    const { code } = await victim.hook('SubagentStop', {
      session_id: `attacked-${++sent}`,
      transcript_path: path.join(folder, 'none.jsonl'),
      cwd: folder,
      agent_id: 'a1',
      agent_type: 'Explore',
      agent_transcript_path: path.join(folder, 'agent-a1.jsonl'),
    })
    expect(code).toBe(0)
    await victim.healthySession()
    await victim.allEnded()
  })

  test(`a pipe named by --settings on the client's command line blocks nobody, ${how}`, async () => {
    const pipe = path.join(victim.folder(), 'settings.json')
    makePipe(pipe)
    const client = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 3e5)', 'x', '--settings', pipe])
    onTestFinished(() => void client.kill('SIGKILL'))
    await attack(() => ({}), { CLAUDE_PID: String(client.pid) })
  })

  test(`pipes as settings and registry of the client block nobody, ${how}`, async () => {
    const configDir = victim.folder()
    mkdirSync(path.join(configDir, 'sessions'))
    makePipe(path.join(configDir, 'settings.json'))
    makePipe(path.join(configDir, 'sessions', `${process.pid}.json`))
    await attack(() => ({}), { CLAUDE_CONFIG_DIR: configDir, TMUX_PANE: '%1', CLAUDE_PID: String(process.pid) })
  })

  test(`a sparse transcript of 3 GB is read only in small part, ${how}`, async () => {
    const before = server ? bytesReadBy(victim.server!.pid) : 0
    await attack((folder) => ({ transcript_path: sparse(path.join(folder, 'x.jsonl'), 3 * GB) }))
    if (server) expect(bytesReadBy(victim.server!.pid) - before).toBeLessThan(GB)
  })

  attackAsOtherUser(`a transcript of another user is not read, ${how}`, async () => {
    const folder = victim.folder()
    const file = path.join(folder, 'x.jsonl')
    writeFileSync(file, `${answerLine('stolen', 1, 150_008)}\n`)
    chownSync(file, OTHER_UID, OTHER_UID)
    const id = await attack(() => ({ transcript_path: file }))
    expect(await victim.session(id)).toMatchObject({ used_tokens: null })
  })

  attackAsOtherUser(`a link to a transcript of another user is not read, ${how}`, async () => {
    const [theirs, folder] = [victim.folder(), victim.folder()]
    const file = path.join(theirs, 'x.jsonl')
    writeFileSync(file, `${answerLine('stolen', 1, 150_008)}\n`)
    chownSync(file, OTHER_UID, OTHER_UID)
    symlinkSync(file, path.join(folder, 'x.jsonl'))
    const id = await attack(() => ({ transcript_path: path.join(folder, 'x.jsonl') }))
    expect(await victim.session(id)).toMatchObject({ used_tokens: null })
  })

  attackAsOtherUser(`the branch of a repository of another user is not read, ${how}`, async () => {
    const folder = victim.folder()
    mkdirSync(path.join(folder, '.git'))
    writeFileSync(path.join(folder, '.git', 'HEAD'), 'ref: refs/heads/stolen\n')
    chownSync(path.join(folder, '.git'), OTHER_UID, OTHER_UID)
    expect(await victim.session(await attack(() => ({ cwd: folder })))).toMatchObject({ branch: null })
  })

  test(`the branch of an own repository is read, ${how}`, async () => {
    const trap: Trap = (folder) =>
      repository(folder, (git) => writeFileSync(path.join(git, 'HEAD'), 'ref: refs/heads/mine\n'))
    expect(await victim.session(await attack(trap))).toMatchObject({ branch: 'mine' })
  })

  test(`the transcript of a session is read when it is this user's file, ${how}`, async () => {
    const trap: Trap = (folder) => {
      appendFileSync(path.join(folder, 'x.jsonl'), `${answerLine('own', 1, 20_008)}\n`)
      return { transcript_path: path.join(folder, 'x.jsonl') }
    }
    expect(await victim.session(await attack(trap))).toMatchObject({ used_tokens: 20_008 })
  })
})

/**
 * Bytes that a process and its ended children asked the kernel for so far, whether or not a disk
 * was read.
 */
function bytesReadBy(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])
}
