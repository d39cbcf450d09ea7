import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { isAlive, isRunning } from '../lib/process-info.js'
import { endProcesses, processesOf } from './processes.js'

const mark = (jobId: string) => ({ ...process.env, BATON_JOB_ID: jobId })

describe('the processes of a job', () => {
  it('are found and ended, those too that outlived their parent, have a group of their own or ignore being told', async () => {
    const jobId = `job_${randomUUID()}`
    const stubborn = `trap '' TERM; while :; do sleep 0.2; done`
    // The shell ends at once and leaves two behind, one of them in its own session.
    const script = `(${stubborn}) & setsid sh -c "${stubborn}" & sleep 60 & exit 0`
    spawn('sh', ['-c', script], { env: mark(jobId), stdio: 'ignore', detached: true }).unref()
    const other = spawn('sleep', ['60'], { env: mark(`${jobId}x`), stdio: 'ignore' })
    while (processesOf(jobId).length < 3) await sleep(20)
    await sleep(100)
    const found = processesOf(jobId)
    expect(found.filter(isAlive).length).toBeGreaterThanOrEqual(3)
    expect(await endProcesses(jobId)).toEqual([])
    expect(found.filter(isAlive)).toEqual([])
    expect(isRunning(other.pid!)).toBe(true)
    other.kill('SIGKILL')
  })

  it('of a job nobody runs are none', async () => {
    expect(await endProcesses(`job_${randomUUID()}`, 100)).toEqual([])
  })
})
