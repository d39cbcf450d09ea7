import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire, wrap } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** Name of the bundle this program starts. Every build has its own name. */
declare const BATON_BUILD: string

interface Engine {
  runEngineMode(beforeLeaving: () => void): void
}

/**
 * Starts the engine with code that V8 compiled in an earlier run.
 * Without a server, compiling is half of a run's cost beyond Node itself.
 * The code is kept per bundle, Node version and kind of run.
 * Each kind of run needs other functions.
 */
function start(): void {
  const program = join(__dirname, 'hook-engine-body.cjs')
  const kept = keptAt()
  const code = kept === null ? undefined : readTwice(kept)
  const script = new Script(wrap(readFileSync(program, 'utf8')), {
    filename: program,
    ...(code && { cachedData: code }),
  })
  const module = { exports: {} as Engine }
  script.runInThisContext()(module.exports, createRequire(program), module, program, __dirname)
  const fresh = code !== undefined && script.cachedDataRejected !== true
  module.exports.runEngineMode(() => {
    if (kept !== null && !fresh) keepTwice(kept, script.createCachedData())
  })
}

function keptAt(): string | null {
  const { BATON_DATA: home } = process.env
  const kind = process.argv[2]
  return home && kind ? join(home, 'code', `${BATON_BUILD}-${process.version}-${process.arch}-${kind}`) : null
}

/**
 * Reads the compiled code, which is stored twice. Both copies must be equal.
 * V8 does not check the code and crashes on damaged code.
 */
function readTwice(file: string): Buffer | undefined {
  try {
    const both = readFileSync(file)
    const half = both.length / 2
    const code = both.subarray(0, half)
    return half > 0 && code.equals(both.subarray(half)) ? code : undefined
  } catch {
    return undefined
  }
}

function keepTwice(file: string, code: Buffer): void {
  const beside = `${file}.${process.pid}`
  try {
    makeFolder(dirname(file))
    writeFileSync(beside, Buffer.concat([code, code]), { mode: 0o600 })
    renameSync(beside, file)
  } catch {
    // Without the stored code, the next run compiles again. Other writes report a read-only folder.
  }
}

function makeFolder(path: string): void {
  try {
    // Not recursive, because in folders such as /proc Node would retry without end.
    mkdirSync(path, { mode: 0o700 })
    chmodSync(path, 0o700)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

try {
  start()
} catch {
  // The package was removed or damaged while hooks run.
  // Hooks must always succeed, so nothing is reported here.
}
process.exitCode = 0
