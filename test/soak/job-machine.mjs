import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BATON, clientBinary, makeMachine, pause, start } from '../../bench/machine.mjs'

const CLIENT = {
  ANTHROPIC_API_KEY: 'sk-fake',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  IS_SANDBOX: '1',
}

/** Seeded random numbers: the same seed gives the same numbers. */
export function dice(seed) {
  let state = seed >>> 0
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { roll, upTo: (most) => roll() * most, one: (list) => list[Math.floor(roll() * list.length)] }
}

/**
 * Writes the record of `baton trust`, which is refused where an agent runs this program. Keep in
 * step with src/config/trust.ts.
 */
function trustProject(home, project, yaml) {
  const folder = realpathSync.native(project)
  let [a, b] = [0x811c9dc5, 0x01000193]
  for (let i = 0; i < folder.length; i++) {
    a = Math.imul(a ^ folder.charCodeAt(i), 0x01000193)
    b = Math.imul(b ^ folder.charCodeAt(i), 0x85ebca6b)
  }
  const name = [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  const record = { version: 1, folder, sha256: createHash('sha256').update(yaml).digest('hex'), trusted_at: '' }
  mkdirSync(join(home, 'trust'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'trust', `${name}.json`), JSON.stringify(record), { mode: 0o600 })
}

/** Makes a machine for jobs, with the real client on PATH and without Baton's hooks in it. */
export function jobMachine(what, modelUrl, yaml) {
  const machine = makeMachine(what, { install: false })
  const env = {
    ...machine.env,
    ...CLIENT,
    ANTHROPIC_BASE_URL: modelUrl,
    PATH: `${dirname(clientBinary())}:${machine.env.PATH}`,
  }
  writeFileSync(join(machine.project, 'baton.yaml'), yaml)
  trustProject(env.BATON_HOME, machine.project, yaml)
  const jobs = {
    ...machine,
    env,
    /** Starts the built command; `done` resolves when its process has exited. */
    baton(args, more = {}) {
      const child = start(process.execPath, [BATON, ...args], {
        env: { ...env, ...more },
        cwd: machine.project,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const said = { stdout: '', stderr: '' }
      for (const stream of ['stdout', 'stderr'])
        child[stream].setEncoding('utf8').on('data', (text) => {
          said[stream] += text
        })
      const running = { pid: child.pid, over: false, said, kill: (signal) => child.kill(signal) }
      running.done = new Promise((resolve) => {
        child.once('close', (code, signal) => {
          running.over = true
          resolve({ code, signal, ...said })
        })
      })
      return running
    },
    jobs: async () => JSON.parse((await jobs.baton(['jobs', 'list', '--json']).done).stdout || '{"jobs":[]}').jobs,
    /** Lists the processes of jobs that still run, by kind. */
    running: () => processesIn(machine.home),
    clients: () => processesIn(machine.home).filter(({ program }) => program === clientBinary()),
  }
  return jobs
}

function processesIn(home) {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0')
      if (!environment.includes(`HOME=${home}`) || !environment.some((entry) => entry.startsWith('BATON_JOB_ID=')))
        return []
      if (/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${name}/stat`, 'latin1'))) return []
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
      // A detached process writes archives, so it may outlive the job.
      if (args.some((part) => part.endsWith('hook-engine.cjs'))) return []
      return [{ pid: Number(name), program: args[0], args: args.join(' ').slice(0, 200) }]
    } catch {
      return []
    }
  })
}

export async function untilTrue(holds, ms, every = 10) {
  const end = Date.now() + ms
  while (!holds()) {
    if (Date.now() > end) return false
    await pause(every)
  }
  return true
}

/** Returns the current and peak resident memory of a process in MB. */
export function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1')
  const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024
  return { now: of('VmRSS'), most: of('VmHWM') }
}
