import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BATON } from '../../test/harness/paths.js'
import { withEnvironment } from '../../test/harness/processes.js'
import { until } from '../../test/harness/wait.js'
import { loadConfig } from '../config/load-config.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { startModel } from '../model/model.js'
import { JOB_CONVERSATIONS } from './demo-script.js'
import { type DemoView, playAct } from './run-demo.js'
import { createDemoHome, findClient } from './stage.js'
import { INITIAL_JOB_STORY } from './story.js'

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

test('stopping the demo during its job ends the command, its client and its tools', async () => {
  const shown: string[] = []
  const context = { env: { PATH: process.env.PATH }, program: dirname(BATON), now: () => new Date() }
  const view: DemoView = {
    beginAct() {},
    event: (_story, { type }) => void shown.push(type),
    checks() {},
    skipped() {},
    gauge() {},
    async end() {},
  }
  const hangs = JOB_CONVERSATIONS.map((one) => ({ ...one, steps: [{ bash: 'tail -f /dev/null', used: 20_008 }] }))
  const model = await startModel({ script: { steps: [], conversations: hangs } })
  const stage = createDemoHome(context)
  const app = openApp({ env: stage.env, loadConfig, rareWork: () => rareWork })
  onTestFinished(async () => {
    app.close()
    await model.close()
    await stage.strike()
  })
  const all = (): number[] => withEnvironment(`HOME=${stage.env.HOME}`)
  const stopped = until(
    () => `the tool runs: ${shown}`,
    () => all().some((pid) => commandOf(pid).startsWith('tail\0')),
  ).then(() => {})
  const child = stage.startJob(findClient(context.env, context.program), model.url)
  const act = { child, opening: INITIAL_JOB_STORY, awaited: [] }
  await expect(playAct(act, { app, model, view, stopped })).rejects.toThrow('The demo was stopped.')
  await until('all has ended', () => all().length === 0)
  expect(app.store.jobs()).toMatchObject([{ state: 'cancelled' }])
  expect(shown.filter((type) => type === 'session_started')).toHaveLength(1)
})
