import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { jobNamed } from '../../jobs/find-job.js'
import { isOver } from '../../jobs/job.js'
import { LogReader } from '../../jobs/log-reader.js'
import { logOf } from '../../jobs/run-job.js'
import { jobFolder } from '../../jobs-of.js'
import { EXIT } from '../../lib/errors.js'
import { isAlive } from '../../lib/process-info.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { logLines } from '../render/job-log-lines.js'
import { untilStopped } from '../until-stopped.js'

const EVERY_MS = 250

export async function logs(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, async (house) => {
    const { jobId, spec } = jobNamed(house.store, call.words[1]!)
    const path = logOf(jobFolder(house, jobId))
    const raw = call.json || call.flag('raw')
    const print = (line: string): void => {
      if (raw) cli.print(line)
      else for (const text of logLines(line, spec.agent, cli.screen)) cli.print(text)
    }
    const newest = new LogReader(path)
    if (existsSync(`${path}.1`)) new LogReader(`${path}.1`).read(print)
    newest.read(print)
    if (!call.flag('follow')) return EXIT.done
    let stopped = false
    void untilStopped().then(() => {
      stopped = true
    })
    for (;;) {
      // It may have been forgotten meanwhile.
      const job = house.store.job(jobId)
      const rests = job === null || isOver(job.state) || job.state === 'paused' || (job.runner !== null && !isAlive(job.runner))
      newest.read(print)
      if (rests || stopped) return EXIT.done
      await sleep(EVERY_MS)
    }
  })
}
