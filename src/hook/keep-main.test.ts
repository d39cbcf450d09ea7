import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../config/load-config.js'
import { openHouse } from '../house.js'
import { keep } from './keep-main.js'

it('transcripts are kept also when nothing else around compactions can be done, and the log says so', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-keep-'))
  const around = (): never => {
    throw new Error('a row that cannot be read')
  }
  const house = openHouse({ env: { HOME: dir, BATON_HOME: join(dir, 'baton') }, loadConfig, around })
  onTestFinished(() => {
    house.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const transcript = join(dir, 's1.jsonl')
  writeFileSync(transcript, '{"type":"user"}\n')
  house.store.transaction(() =>
    house.planArchive({ sessionId: 's1', agent: 'claude-code', project: null, trigger: 'auto', transcript }),
  )
  keep(house)
  expect(house.store.archives()).toMatchObject([{ sessionId: 's1', status: 'kept' }])
  expect(readFileSync(house.home.log, 'utf8')).toContain('a row that cannot be read')
})
