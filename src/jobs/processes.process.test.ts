import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/harness/wait.js'
import { isAlive, isRunning } from '../lib/process-info.js'
import { endProcesses, processesOf } from './processes.js'

const mark = (jobId: string) => ({ ...process.env, BATON_JOB_ID: jobId })

describe('the processes of a job', () => {
  test('processes of a job are ended even if orphaned, in another group or ignoring SIGTERM', async () => {
    const jobId = `job_${randomUUID()}`
    const ready = mkdtempSync(join(tmpdir(), 'baton-processes-'))
    onTestFinished(() => rmSync(ready, { recursive: true }))
    const stubborn = `trap '' TERM; : > ${ready}/$$; while :; do sleep 0.2; done`
    // The shell exits at once and leaves two processes behind, one of them in its own session.
    const script = `(${stubborn}) & setsid sh -c '${stubborn.replaceAll("'", '"')}' & sleep 60 & exit 0`
    spawn('sh', ['-c', script], { env: mark(jobId), stdio: 'ignore', detached: true }).unref()
    const other = spawn('sleep', ['60'], { env: mark(`${jobId}x`), stdio: 'ignore' })
    await until('both ignore the signal', () => readdirSync(ready).length === 2)
    await until('all run', () => processesOf(jobId).length >= 3)
    const found = processesOf(jobId)
    expect(found.filter(isAlive).length).toBeGreaterThanOrEqual(3)
    expect(await endProcesses(jobId)).toEqual([])
    expect(found.filter(isAlive)).toEqual([])
    expect(isRunning(other.pid!)).toBe(true)
    other.kill('SIGKILL')
  })

  test('a job that no process runs has no processes', async () => {
    expect(await endProcesses(`job_${randomUUID()}`, 100)).toEqual([])
  })
})
