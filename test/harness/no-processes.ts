import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach } from 'vitest'

/**
 * Setup of the unit tier: a test that starts a process fails, even if the tested code catches the
 * error.
 */
const started: string[] = []

for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const) {
  Object.assign(childProcess, {
    [name]: (command: unknown) => {
      started.push(`${name}(${JSON.stringify(command)})`)
      throw refusal()
    },
  })
}
syncBuiltinESMExports()

afterEach(() => {
  if (started.length > 0) throw refusal()
})

function refusal(): Error {
  return new Error(
    `A unit test started a process: ${started.splice(0).join(', ')}. Rename the file to *.process.test.ts.`,
  )
}
