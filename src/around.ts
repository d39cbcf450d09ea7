import { readers } from './agents/readers.js'
import { type Around, makeAround } from './engine/around.js'

/** What is done around a compaction, joined. Apart from house.ts, because a hook loads it only then. */
export const around: Around = makeAround(readers)
