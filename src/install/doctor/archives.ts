import { broken, type Finding, fine } from './finding.js'
import type { Patient } from './patient.js'
import { withHouse } from './with-house.js'

/** Whether every file that archives need is there at its full length. What is in them only `baton archive verify` can prove. */
export function checkArchives(patient: Patient): Finding {
  const files = withHouse(patient, (house) => patient.instruments.archiveFiles(house))
  if (files === null || files.all === 0) return fine('None.')
  const many = files.all === 1 ? '1 file' : `${files.all} files`
  if (files.gone.length === 0) return fine(`${many}, each at its full length.`)
  const [first] = files.gone
  const more = files.gone.length > 1 ? ` and ${files.gone.length - 1} more` : ''
  return broken(
    `Of ${many} of archives ${files.gone.length} ${files.gone.length === 1 ? 'is' : 'are'} gone or cut short: ${first}${more}.`,
    'Put them back from a backup, or let go of what they held: baton archive verify names the archives, baton archive forget <archive> drops one.',
  )
}
