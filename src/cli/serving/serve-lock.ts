import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { BatonError, codeOf, EXIT } from '../../lib/errors.js'
import { isAlive, processInfo } from '../../lib/process-info.js'

/** One server for one home: two would answer the same hooks. Returns what gives the place up again. Throws when it is taken. */
export function takePlace(path: string, describe: () => string): () => void {
  const own = `${process.pid} ${processInfo(process.pid)?.startedAt ?? ''}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (;;) {
    try {
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 })
      return () => {
        if (read(path) === own) rmSync(path, { force: true })
      }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const held = read(path)
    const [pid = '', ...startedAt] = (held ?? '').split(' ')
    if (isAlive({ pid: Number(pid), startedAt: startedAt.join(' ') })) {
      throw new BatonError(
        `Baton already serves this home${describe()} (process ${pid}).`,
        'Use that one, end it first, or give this one another BATON_HOME.',
        EXIT.refused,
        { pid: Number(pid) },
      )
    }
    if (held === read(path)) rmSync(path, { force: true })
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
