import { readers } from './agents/readers.js'
import { addAddendum, readAddendum } from './briefs/addendum.js'
import { keepBrief } from './briefs/keep-brief.js'
import { readBrief } from './briefs/read-brief.js'
import { type Around, makeAround } from './engine/around.js'
import { gitState } from './lib/git-state.js'
import { machineKey } from './lib/machine-key.js'
import { VERSION } from './version.js'

/** What is done around compactions and handoffs, joined. Apart from house.ts, because a hook loads it only then. */
export const around: Around = makeAround(
  readers,
  ({ briefs: { folder, keyFile } }) => ({
    keep: (origin, body) => keepBrief({ folder, key: machineKey(keyFile) }, origin, body),
    read(brief) {
      const { verdict, body } = readBrief(brief.path, machineKey(keyFile), brief.sha256)
      return verdict === 'genuine' ? body : null
    },
    add: (brief, at, text) => addAddendum(machineKey(keyFile), brief, at, text),
    late: ({ briefId, addenda }) =>
      addenda.flatMap(({ path, sha256 }) => {
        const { verdict, body } = readAddendum(path, machineKey(keyFile), { briefId, sha256 })
        return verdict === 'genuine' && body !== null ? [{ text: body, path }] : []
      }),
  }),
  gitState,
  VERSION,
  () => performance.now(),
)
