import path from 'node:path'
import { plain } from '../../src/cli/render/screen.js'
import { formatError, runMain } from '../../src/cli/run-main.js'

/** A command that a test wants to be run. */
export interface HostedCall {
  id: number
  args: string[]
  env: Record<string, string>
  cwd: string
  /** The folder of the built program, from which workers are started. */
  program: string
}

export interface HostedEnd {
  id: number
  code: number
  stdout: string
  stderr: string
}

const SCREEN = { terminal: false, columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY, paint: plain }

/**
 * Runs commands of many homes one after the other in this process. A test that asks for the state
 * of a session many times would spend 0.3 s of a core on each start of Node otherwise.
 */
let last: Promise<void> = Promise.resolve()
process.on('message', (call: HostedCall) => {
  last = last.then(async () => void process.send!(await run(call)))
})
process.on('disconnect', () => process.exit())

async function run({ id, args, env, cwd, program }: HostedCall): Promise<HostedEnd> {
  // Workers that a command starts, and some modules, read it.
  process.env = { ...env }
  const end: HostedEnd = { id, code: 0, stdout: '', stderr: '' }
  const print = (text: string): void => {
    end.stdout += `${text}\n`
  }
  const note = (text: string): void => {
    end.stderr += `${text}\n`
  }
  try {
    end.code = await runMain(args, {
      env: process.env,
      cwd,
      program: path.resolve(program),
      screen: SCREEN,
      print,
      note,
      now: () => new Date(),
    })
  } catch (error) {
    const { text, exit } = formatError(error, args.includes('--json'), plain)
    end.code = exit
    note(text)
  }
  await releaseStores()
  return end
}

/**
 * Collects the garbage of a command. A closed store keeps its files open until its statements are
 * collected; a process that ends closes them at once.
 */
async function releaseStores(): Promise<void> {
  global.gc!()
  // The statements are finalized in a later turn of the event loop.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}
