import { chmodSync, statSync } from 'node:fs'
import { realTarget } from '../../lib/atomic-file.js'
import { lookAtLauncher } from '../look.js'
import { broken, type Finding, fine, mends } from './finding.js'
import { launcherParts } from './launcher-parts.js'
import type { Patient } from './patient.js'
import { byInstall } from './targets.js'

const ANEW = 'writes it anew'

/** The one program that the client's settings name. */
export function checkLauncher(patient: Patient): Finding {
  const { launcher: path } = patient.home
  const text = lookAtLauncher(path)
  const wrong = (detail: string, what = ANEW): Finding => {
    const fault = byInstall(patient, detail, what)
    const { repair } = fault
    // Install leaves a read-only file alone, for whoever made it so meant it; this one is nobody's but Baton's.
    const anew = (): void | Promise<void> => {
      chmodSync(path, 0o700)
      return repair?.()
    }
    return { told: '', faults: [repair && text !== null ? { ...fault, repair: anew } : fault] }
  }
  if (text === null) return wrong(`There is no launcher at ${path}: hooks are silent and measure nothing.`, 'writes it')
  if (text === '') return wrong(`The launcher ${path} cannot be executed: hooks are silent and measure nothing.`)
  const problem = judgeLauncher(text, patient.launcher, patient.home.root)
  if (problem) return wrong(`The launcher ${path} ${problem}.`)
  const mode = statSync(path).mode & 0o777
  if (mode & 0o022) {
    const detail = `Others can change the launcher ${path} (mode ${mode.toString(8)}), and so what your client runs.`
    return broken(detail, mends('gives it mode 700'), () => chmodSync(path, 0o700))
  }
  return fine(`${path}.`)
}

/**
 * What is wrong with a launcher's text; null: nothing. It may start another node or another copy of the same version: then it
 * still does what it should, and whoever runs doctor from a second copy must not be told to move his hooks there.
 */
export function judgeLauncher(found: string, wanted: string, home: string): string | null {
  if (found === wanted) return null
  const [is, should] = [launcherParts(found), launcherParts(wanted)]
  if (!is || !should) return is ? 'is of another version of Baton' : 'is not what Baton wrote'
  if (realTarget(is.home) !== realTarget(home)) return `works for another home, ${is.home}`
  return is.program === should.program ? null : 'is of another version of Baton'
}
