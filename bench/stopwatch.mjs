import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SECONDS = 20

/**
 * Makes a stopwatch for commands. Without a C compiler Node measures, which adds about a
 * millisecond to each run.
 */
export function makeStopwatch(dir) {
  const program = join(dir, 'stopwatch')
  const built = spawnSync('cc', ['-O2', '-o', program, new URL('stopwatch.c', import.meta.url).pathname], {
    stdio: 'ignore',
  })
  const precise = built.status === 0
  const file = join(dir, 'payload')
  return {
    precise,
    /**
     * Runs `command` (program and arguments). Returns wall time and processor time in
     * milliseconds. Throws when the command fails.
     */
    time(command, { env, payload = '', cwd }) {
      const run = precise ? timed(command, { env, payload, cwd }) : coarse(command, { env, payload, cwd })
      if (run.code !== 0) throw new Error(`${command.join(' ')} ended with ${run.code}`)
      return run
    },
  }

  function timed(command, { env, payload, cwd }) {
    writeFileSync(file, payload)
    const run = spawnSync(program, [file, String(SECONDS), ...command], { env, cwd, encoding: 'utf8' })
    const [ms, cpu, code, bytes] = run.stdout.split(' ').map(Number)
    if (run.status !== 0) throw new Error(`the stopwatch failed: ${run.stderr}`)
    return { ms, cpu, code, bytes }
  }

  function coarse([name, ...args], { env, payload, cwd }) {
    const began = performance.now()
    const run = spawnSync(name, args, { env, cwd, input: payload, timeout: SECONDS * 1000 })
    return { ms: performance.now() - began, cpu: Number.NaN, code: run.status ?? -1, bytes: run.stdout.length }
  }
}
