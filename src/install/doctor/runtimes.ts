import { type Finding, fine, listed } from './finding.js'
import type { Patient } from './patient.js'

/** What `baton run` can use. One that is not there is no fault: nobody needs all of them. */
export async function checkRuntimes({ instruments, cwd }: Patient): Promise<Finding> {
  const all = await instruments.runtimes(cwd)
  const there = all.filter(({ missing }) => missing === null).map(({ name }) => name)
  const not = all.flatMap(({ name, missing }) => (missing === null ? [] : [` Not ${name}: ${missing}.`]))
  return fine(`Jobs can be run with ${listed(there)}.${not.join('')}`)
}
