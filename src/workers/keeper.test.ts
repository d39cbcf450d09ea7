import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../config/load-config.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { runKeeper } from './keeper.js'

test('transcripts are archived even when the work around compactions fails, and the log says so', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-keep-'))
  let isBroken = false
  const loadRareWork = (): typeof rareWork => {
    if (isBroken) throw new Error('a row that cannot be read')
    return rareWork
  }
  const app = openApp({ env: { HOME: dir, BATON_HOME: join(dir, 'baton') }, loadConfig, rareWork: loadRareWork })
  onTestFinished(() => {
    app.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const transcript = join(dir, 's1.jsonl')
  writeFileSync(transcript, '{"type":"user"}\n')
  app.store.transaction(() =>
    app.planArchive({ sessionId: 's1', agent: 'claude-code', project: null, trigger: 'auto', transcript }),
  )
  isBroken = true
  runKeeper(app)
  expect(app.store.archives()).toMatchObject([{ sessionId: 's1', status: 'kept' }])
  expect(readFileSync(app.home.log, 'utf8')).toContain('a row that cannot be read')
})
