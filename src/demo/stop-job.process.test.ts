import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BATON } from '../../test/harness/paths.js'
import { withEnvironment } from '../../test/harness/processes.js'
import { until } from '../../test/harness/wait.js'
import type { Cli } from '../cli/command.js'
import { JOB_OPENING, tellJob } from '../cli/render/demo-lines.js'
import { screenOf } from '../cli/render/screen.js'
import { loadConfig } from '../config/load-config.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { startModel } from '../model/model.js'
import { JOB_CONVERSATIONS } from './demo-script.js'
import { Display, findClient, play, setStage } from './stage.js'

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

test('stopping the demo during its job ends the command, its client and its tools', async () => {
  const lines: string[] = []
  const cli: Cli = {
    env: { PATH: process.env.PATH },
    cwd: process.cwd(),
    program: dirname(BATON),
    screen: screenOf({}, {}),
    print: (text) => void lines.push(text),
    note() {},
    now: () => new Date(),
  }
  const hangs = JOB_CONVERSATIONS.map((one) => ({ ...one, steps: [{ bash: 'tail -f /dev/null', used: 20_008 }] }))
  const model = await startModel({ script: { steps: [], conversations: hangs } })
  const stage = setStage(cli)
  const app = openApp({ env: stage.env, loadConfig, rareWork: () => rareWork })
  onTestFinished(async () => {
    app.close()
    await model.close()
    await stage.strike()
  })
  const all = (): number[] => withEnvironment(`HOME=${stage.env.HOME}`)
  const stopped = until(
    () => `the tool runs: ${lines}`,
    () => all().some((pid) => commandOf(pid).startsWith('tail\0')),
  ).then(() => {})
  const child = stage.startJob(findClient(cli.env, cli.program), model.url)
  const act = { child, opening: JOB_OPENING, tell: tellJob, awaited: [] }
  await expect(play(act, app, new Display(cli, false), stopped)).rejects.toThrow('The demo was stopped.')
  await until('all has ended', () => all().length === 0)
  expect(app.store.jobs()).toMatchObject([{ state: 'cancelled' }])
  expect(lines).toHaveLength(1)
})
