import { readdirSync, readFileSync } from 'node:fs'
import { pause } from '../../bench/machine.mjs'

/** Finds launchers, engines and servers of one Baton home by their environment. */
export function inHome(batonHome) {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      if (!readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(`BATON_HOME=${batonHome}`)) return []
      if (/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${name}/stat`, 'latin1'))) return []
      return [{ pid: Number(name), kind: kindOf(readFileSync(`/proc/${name}/cmdline`, 'latin1')) }]
    } catch {
      return []
    }
  })
}

function kindOf(commandLine) {
  if (commandLine.includes('hook-engine.cjs')) return 'engine'
  if (commandLine.includes('baton.mjs')) return commandLine.includes('serve') ? 'server' : 'command'
  return 'launcher'
}

export async function untilNobody(batonHome, ms) {
  const end = Date.now() + ms
  while (inHome(batonHome).length > 0) {
    if (Date.now() > end) return false
    await pause(50)
  }
  return true
}
