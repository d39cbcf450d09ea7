import { archivesOf, finishArchives } from '../archives-of.js'
import type { House } from '../house.js'

export { around } from '../around.js'
export { driveHandoffs } from '../hand-driver.js'

/**
 * The work around compactions that no hook waits for: transcripts are kept and made searchable, long ones read, old archives dropped
 * where the configuration says so. Its own bundle, because it is needed a few times a day.
 */
export function keep(house: House): void {
  try {
    house.engine.catchUp()
  } catch (error) {
    // One compaction that cannot be read must not keep any transcript from being kept.
    const reason = error instanceof Error ? error.message : String(error)
    house.log('error', 'what compactions left to be done could not be caught up with', { reason })
  }
  const archives = archivesOf(house)
  try {
    if (!archives.waiting()) return
    finishArchives(house, archives)
    archives.retain((project) => house.policyOf({ agent: 'claude-code', project, model: null, seat: null }).policy.archive)
  } finally {
    archives.close()
  }
}
