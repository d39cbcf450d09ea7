import { readers } from '../agents/readers.js'
import { makeArchives } from '../archive/archive.js'
import type { House } from '../house.js'

export { around } from '../around.js'

/**
 * The work around compactions that no hook waits for: transcripts are kept and made searchable, long ones read, old archives dropped
 * where the configuration says so. Its own bundle, because it is needed a few times a day.
 */
export function keep(house: House): void {
  house.engine.catchUp()
  const archives = makeArchives({
    ...{ store: house.store, root: house.home.root, now: house.now, log: house.log },
    newId: () => crypto.randomUUID().replaceAll('-', '').slice(0, 16),
    readerOf(agent, chain) {
      const read = readers[agent]?.entriesOfLine
      return read ? (line, number) => read(line, number, chain) : null
    },
  })
  try {
    if (!archives.waiting()) return
    archives.finish({
      settled(record) {
        const event = archives.createdEvent(record)
        if (event) house.store.addEvent(event)
      },
    })
    archives.retain((project) => house.policyOf({ agent: 'claude-code', project, model: null, seat: null }).policy.archive)
  } finally {
    archives.close()
  }
}
