import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hookEnvironment, statusLine, toolBatch, transcriptStep } from '../../bench/samples.mjs'

/**
 * Simulates a client between two answers: writes its transcript and runs the installed hook, and
 * sometimes the status line.
 */
export function fakeClient(machine, sessionId) {
  const settings = JSON.parse(readFileSync(join(machine.home, '.claude', 'settings.json'), 'utf8'))
  const hook = settings.hooks.PostToolBatch.flatMap((entry) => entry.hooks).find((one) =>
    one.command.includes('bin/hook'),
  ).command
  const transcript = join(machine.home, '.claude', 'projects', '-soak', `${sessionId}.jsonl`)
  mkdirSync(dirname(transcript), { recursive: true })
  const session = { sessionId, cwd: machine.project, transcript }
  const env = { ...machine.env, ...hookEnvironment({ sessionId, cwd: machine.project, attended: '0' }) }
  let n = 0
  return {
    /**
     * `killAfter` is the time in milliseconds until the hook is killed. Null when it is not killed.
     */
    batch({ used, size, killAfter = null }) {
      n++
      appendFileSync(transcript, transcriptStep({ ...session, n, used, size, at: Date.now() }))
      return run(hook, toolBatch({ ...session, n, size }), { env, cwd: machine.project, killAfter })
    },
    status({ used, killAfter = null }) {
      return run(settings.statusLine.command, statusLine({ ...session, used }), {
        env,
        cwd: machine.project,
        killAfter,
      })
    },
  }
}

/** Runs a command as the client does and resolves with its result. Never throws. */
function run(command, payload, { env, cwd, killAfter }) {
  return new Promise((resolve) => {
    const began = performance.now()
    const child = spawn('/bin/sh', ['-c', command], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    let killed = false
    const kill = () => {
      if (child.exitCode === null && child.signalCode === null) killed = child.kill('SIGKILL')
    }
    const timers = [setTimeout(kill, 20_000), ...(killAfter === null ? [] : [setTimeout(kill, killAfter)])]
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    child.stdin.on('error', () => {})
    child.stdin.end(payload)
    child.on('close', (code, signal) => {
      timers.forEach(clearTimeout)
      resolve({ pid: child.pid, code, signal, killed, stdout, stderr, ms: performance.now() - began })
    })
  })
}
