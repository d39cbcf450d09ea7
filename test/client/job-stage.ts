import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import type { JobView } from '../../src/contract/api/jobs.js'
import { type LogEntry, visibleTexts } from '../../src/model/log.js'
import { type Model, startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { type Home, makeHome } from '../harness/home.js'
import { hostCommands } from '../harness/hosted-commands.js'
import { BATON, clientBinary } from '../harness/paths.js'
import { alive, end, withEnvironment } from '../harness/processes.js'
import { mainRequests } from '../harness/stage.js'

export { climb } from './climb-script.js'

/** A machine without Baton's hooks in the client, which jobs do not need. */
export interface JobStage {
  home: Home
  model: Model
  /** Starts the built command. */
  start(args: string[], env?: Record<string, string>, cwd?: string): Started
  /** Runs the built command to its end. */
  baton(...args: string[]): Promise<Ended>
  jobs(): Promise<JobView[]>
  job(): Promise<JobView>
  /** Numbers that the script's steps wrote, in order. */
  steps(): string[]
  /** Releases a held step of a climb. */
  release(step: number): void
  /** Ids of job processes that still run. */
  running(): number[]
  /** The first prompt of each session, in the order they began. */
  firsts(): { sessionId: string; text: string }[]
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Started {
  pid: number
  kill(signal: NodeJS.Signals): void
  stdout(): string
  stderr(): string
  done: Promise<Ended>
}

export async function jobStage(script: ScriptInput, env: Record<string, string> = {}): Promise<JobStage> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model, env })
  home.env.PATH = `${path.dirname(clientBinary())}:${home.env.PATH}`
  const start = (args: string[], more: Record<string, string> = {}, cwd = home.project): Started => {
    const child = spawn(process.execPath, [BATON, ...args], {
      env: { ...home.env, ...more },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const pid = child.pid!
    home.onDispose(() => (alive(pid) ? end(pid) : undefined))
    const said = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr += text
    })
    const done = new Promise<Ended>((resolve) => {
      child.on('close', (code, signal) => resolve({ code, signal, ...said }))
    })
    return { pid, kill: (signal) => child.kill(signal), stdout: () => said.stdout, stderr: () => said.stderr, done }
  }
  const hosted = hostCommands(home)
  const it: JobStage = {
    home,
    model,
    start,
    baton: (...args) => start(args).done,
    jobs: async () => (JSON.parse((await hosted.run(['jobs', 'list', '--json'])).stdout) as { jobs: JobView[] }).jobs,
    job: async () => {
      const all = await it.jobs()
      if (all.length !== 1) throw new Error(`${all.length} jobs`)
      return all[0]!
    },
    steps: () => {
      const file = path.join(home.project, 'steps')
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    },
    release: (step) => writeFileSync(path.join(home.project, `go-${step}`), ''),
    running: () => withEnvironment(`HOME=${home.home}`).filter((pid) => alive(pid) && isOfJob(pid)),
    firsts: () => {
      const seen = new Map<string, LogEntry>()
      for (const entry of mainRequests(model))
        if (entry.session_id && !seen.has(entry.session_id)) seen.set(entry.session_id, entry)
      return [...seen].map(([sessionId, entry]) => ({ sessionId, text: visibleTexts(entry).join('\n') }))
    },
  }
  return it
}

function isOfJob(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes('\0BATON_JOB_ID=')
  } catch {
    return false
  }
}

export const upTo = (last: number): string[] => Array.from({ length: last }, (_, index) => String(index + 1))

/** Returns the process id of the job's current client. */
export function clientsOf(it: JobStage): number[] {
  return it.running().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] === clientBinary()
    } catch {
      return false
    }
  })
}
