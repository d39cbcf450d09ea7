import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveCases } from '../archives.cases.js'
import { compactionCases } from '../compactions.cases.js'
import { briefCases, handoffCases } from '../handoffs.cases.js'
import { jobCases } from '../jobs.cases.js'
import { noticeCases } from '../notices.cases.js'
import { storeCases } from '../store.cases.js'
import { transactionCases } from '../transactions.cases.js'
import * as quoteEraser from './forget-words.js'
import type { OpenOptions } from './open.js'
import { openStore } from './sqlite.js'

function placeWith(options: OpenOptions) {
  return () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-store-'))
    return {
      open: () => openStore(join(folder, 'baton.db'), { quoteEraser, ...options }),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    }
  }
}

for (const [backend, options] of [
  ['sqlite', { busyMs: 200 }],
  ['sqlite that remembers what it read', { busyMs: 200, cacheRecords: true }],
] as const) {
  storeCases(backend, placeWith(options))
  transactionCases(backend, placeWith(options))
  archiveCases(backend, placeWith(options))
  compactionCases(backend, placeWith(options))
  briefCases(backend, placeWith(options))
  handoffCases(backend, placeWith(options))
  jobCases(backend, placeWith(options))
  noticeCases(backend, placeWith(options))
}
