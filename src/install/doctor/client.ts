import { broken, type Finding, fine } from './finding.js'
import type { Patient } from './patient.js'
import { withHouse } from './with-house.js'

/** The first version that knows every event Baton asks for, as far as the client's own notes tell. */
const OLDEST = [2, 1, 78] as const

export function checkClient(patient: Patient): Finding {
  const { path, version } = patient.client
  const sessions = withHouse(patient, (house) => house.store.sessions()) ?? []
  const last = sessions.toSorted((a, b) => (a.seenAt < b.seenAt ? 1 : -1)).find(({ agentVersion }) => agentVersion !== null)
  return judgeClient(path, version, last?.agentVersion ?? null)
}

/** `seen`: the version a session has told; null: none was seen yet. */
export function judgeClient(path: string | null, version: string | null, seen: string | null): Finding {
  if (path === null && seen === null)
    return broken(
      'Claude Code was not found: there is no claude on the PATH, and no session was seen yet.',
      'Install Claude Code, or open a session where it runs.',
    )
  if (path === null) return fine(`No claude on the PATH; the last session seen was of Claude Code ${seen}.`)
  if (version === null)
    return broken(`${path} --version did not answer.`, 'Try it by hand; if it is broken, install Claude Code again.')
  if (isOlder(version))
    return broken(`Claude Code ${version} is too old: Baton needs ${OLDEST.join('.')} or newer.`, 'Run claude update.')
  return fine(`Claude Code ${version} (${path}).`)
}

function isOlder(version: string): boolean {
  const parts = version.split('.').map(Number)
  const differs = OLDEST.findIndex((wanted, i) => parts[i] !== wanted)
  return differs >= 0 && (parts[differs] ?? 0) < OLDEST[differs]!
}
