import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the faults of a repeatedly killed job, from the model's log and its steps' output. */
export function faultsOf({ job, steps, folder, files, log, home }) {
  const faults = []
  const path = join(folder, 'steps')
  const written = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  const missing = Array.from({ length: steps }, (_, n) => String(n + 1)).filter((step) => !written.includes(step))
  if (missing.length > 0) faults.push(`steps missing: ${missing}`)
  const twice = [...new Set(written.filter((step, at) => written.indexOf(step) !== at))]
  if (job.compactions > 0) faults.push(`${job.compactions} compactions`)

  const journal = readJournal(join(files, 'journal.jsonl'))
  const journalled = new Set(journal.filter(({ what }) => what !== 'denied').map(({ callId }) => callId))
  const main = log.filter(({ kind }) => kind === 'main')
  // The model repeats only steps missing from its prompt, so a repeated step reveals that request.
  for (const step of twice) {
    const calls = main.filter(({ given, callId }) => given.step === Number(step) && journalled.has(callId))
    const unaware = calls.filter((call, at) => calls.slice(0, at).some(({ callId }) => !call.body.includes(callId)))
    const where = unaware.map(({ n, session_id }) => `request ${n} of ${session_id}`).join(', ')
    faults.push(`step ${step} was done twice; ${where || 'each time its calls were named'}`)
  }
  faults.push(...saidTwice(main, journal, home))
  const named = main.filter(
    ({ told }) => told.newest.includes('These calls were made') || told.newest.includes('nobody knows how'),
  )
  return { faults: [...new Set(faults)], requests: main.length, named: named.length }
}

/** Checks that a first prompt is repeated only for a session whose predecessor never got it. */
function saidTwice(main, journal, home) {
  const faults = []
  const bySaid = new Map()
  const firsts = new Map()
  for (const { session_id, told } of main) {
    if (firsts.has(session_id)) continue
    firsts.set(session_id, told.newest)
    bySaid.set(told.newest, [...(bySaid.get(told.newest) ?? []), session_id])
  }
  for (const sessions of bySaid.values())
    for (const sessionId of sessions.slice(0, -1)) {
      const worked = journal.some((line) => line.sessionId === sessionId && line.what !== 'denied')
      const heard = transcriptOf(home, sessionId)?.includes('Do all steps.') === true
      if (worked || heard)
        faults.push(
          `session ${sessionId} ${worked ? 'worked' : 'heard'}, and ${sessions.at(-1)} was given the same first prompt`,
        )
    }
  for (const { n, session_id, body } of main) {
    const count = (text) => body.split(JSON.stringify(text).slice(1, -1)).length - 1
    if (count(firsts.get(session_id)) > 1) faults.push(`request ${n} of ${session_id} holds its first prompt twice`)
    if (count('[baton] A handoff brief ') > 1) faults.push(`request ${n} of ${session_id} asks for the brief twice`)
  }
  return faults
}

function readJournal(path) {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })
}

function transcriptOf(home, sessionId) {
  const root = join(home, '.claude', 'projects')
  for (const project of existsSync(root) ? readdirSync(root) : []) {
    const path = join(root, project, `${sessionId}.jsonl`)
    if (existsSync(path)) return readFileSync(path, 'utf8')
  }
  return null
}
