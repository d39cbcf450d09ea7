import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeCases } from '../store.cases.js'
import type { OpenOptions } from './open.js'
import { openStore } from './sqlite.js'

function placeWith(options: OpenOptions) {
  return () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-store-'))
    return {
      open: () => openStore(join(folder, 'baton.db'), options),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    }
  }
}

storeCases('sqlite', placeWith({ busyMs: 200 }))
storeCases('sqlite that remembers what it read', placeWith({ busyMs: 200, remember: true }))
