import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Outcome } from './other-user.js'
import { PREFIX } from './paths.js'
import { until } from './wait.js'

/**
 * Runs a program whose parent has exited, so that it has no ancestor in the test. Some commands
 * refuse to run below an agent's process, and an agent may be running these tests.
 */
export async function runAsOrphan(
  command: string,
  args: readonly string[],
  { env, cwd }: { env: Record<string, string>; cwd: string },
): Promise<Outcome> {
  const folder = mkdtempSync(path.join(os.tmpdir(), PREFIX))
  const at = (name: string): string => path.join(folder, name)
  // The program starts once its parent, the outer shell, is known to be gone.
  const inner =
    'until [ -e "$0/go" ]; do sleep 0.02; done; "$@" >"$0/out" 2>"$0/err" </dev/null; echo $? >"$0/code"; mv ' +
    '"$0/code" "$0/done"'
  try {
    const shell = spawn('sh', ['-c', `sh -c '${inner}' "$0" "$@" & exit 0`, folder, command, ...args], {
      env,
      cwd,
      stdio: 'ignore',
      detached: true,
    })
    await new Promise((resolve, reject) => shell.on('error', reject).on('exit', resolve))
    writeFileSync(at('go'), '')
    await until('the program ended', () => existsSync(at('done')))
    const read = (name: string): string => readFileSync(at(name), 'utf8')
    return { code: Number(read('done')), stdout: read('out'), stderr: read('err') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
