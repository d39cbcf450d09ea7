import { spawn } from 'node:child_process'

export interface BoundedRun {
  /** null: it could not be started, or was ended. */
  code: number | null
  stdout: string
  stderr: string
  /** True: it took too long, and its whole process group was ended. */
  timedOut: boolean
}

export interface BoundedOptions {
  input?: string
  timeoutMs: number
  env?: NodeJS.ProcessEnv
}

const LARGEST_OUTPUT = 4 * 1024 * 1024

/** Runs a program to its end or to the end of its time; throws nothing. */
export function runBounded(program: string, args: string[], options: BoundedOptions): Promise<BoundedRun> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'pipe', env: options.env ?? process.env })
    let [stdout, stderr, timedOut, over] = ['', '', false, false]
    const finish = (code: number | null, trouble = ''): void => {
      if (over) return
      over = true
      clearTimeout(timer)
      for (const stream of child.stdio) stream?.destroy()
      resolve({ code: timedOut ? null : code, stdout, stderr: stderr + trouble, timedOut })
    }
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child.pid)
      // whatever holds the pipes open is not waited for
      finish(null)
    }, options.timeoutMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < LARGEST_OUTPUT) stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < LARGEST_OUTPUT) stderr += text
    })
    child.stdin.on('error', () => {})
    child.on('error', (error) => finish(null, error.message))
    child.on('close', (code) => finish(code))
    child.stdin.end(options.input ?? '')
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it ended by itself in the meantime
  }
}
