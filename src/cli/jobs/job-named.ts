import type { JobRecord } from '../../contract/job.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'

/** The jobs that a name may mean: its id or the beginning of it, with or without `job_`, or its seat. */
export function findJob(store: Pick<House['store'], 'job' | 'jobs'>, id: string): JobRecord[] {
  const exact = store.job(id) ?? store.job(`job_${id}`)
  if (exact) return [exact]
  const short = id.replace(/^job_/, '')
  return store.jobs().filter(({ jobId, seatId }) => (short.length >= 4 && jobId.startsWith(`job_${short}`)) || seatId === id)
}

/** The one it means. Throws when there is none, or several. */
export function jobNamed({ store }: House, id: string): JobRecord {
  const alike = findJob(store, id)
  if (alike.length === 1) return alike[0]!
  if (alike.length > 1)
    throw new BatonError(
      `${alike.length} jobs begin with "${id}".`,
      `Give more of the id: ${alike
        .slice(0, 4)
        .map(({ jobId }) => jobId)
        .join(', ')}.`,
      EXIT.usage,
    )
  throw new BatonError(`There is no job "${id}".`, 'baton jobs list shows them.', EXIT.notFound)
}
