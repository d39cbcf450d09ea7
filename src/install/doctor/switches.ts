import { type Finding, fine } from './finding.js'
import type { Patient } from './patient.js'
import { withHouse } from './with-house.js'

/** Whether somebody has told Baton to be silent. A person's choice, so never a fault. */
export function checkSwitches(patient: Patient): Finding {
  const { env, cwd } = patient
  const said = withHouse(patient, ({ store, recent }) => {
    const projects = [...new Set(store.sessions().flatMap(({ project }) => project ?? []))]
    const here = projects.filter((project) => cwd === project || cwd.startsWith(`${project}/`))
    const quiet = recent({ live: true }).filter(({ enabled }) => !enabled)
    return [
      ...(store.switched('all', '') === false
        ? ['baton off --all is in force: sessions are measured, nobody is told. baton on --all ends it.']
        : []),
      ...(here.some((project) => store.switched('project', project) === false)
        ? ['baton off --project is in force here; baton on --project ends it.']
        : []),
      ...(quiet.length > 0 ? [`Silent in ${quiet.map(({ session_id }) => session_id.slice(0, 8)).join(', ')}.`] : []),
    ]
  })
  const disabled =
    env.BATON_DISABLE === '1' ? ['BATON_DISABLE=1 is set here: in sessions started from here Baton does nothing.'] : []
  const all = [...disabled, ...(said ?? [])]
  return fine(all.length > 0 ? all.join(' ') : 'On.')
}
