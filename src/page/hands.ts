import type { JobLogLine } from '../contract/api/jobs.js'

/** What only the program can do that the server runs in: start others like itself. */
export interface Hands {
  env: Record<string, string | undefined>
  /**
   * Runs one of Baton's own commands in a process of its own, for what takes long or would keep the server from answering, and gives what
   * it printed as JSON. What it refuses is thrown as the `BatonError` it was there.
   */
  command(words: readonly string[]): Promise<unknown>
  /** A new job in a process of its own. */
  startJob(order: JobOrder): Promise<{ jobId: string }>
  /** A job goes on in a process of its own. */
  resumeJob(jobId: string): { jobId: string }
  /** What a line of a job's log tells a person. */
  readLogLine(line: string, agent: string): JobLogLine[]
}

export interface JobOrder {
  folder: string
  agentName: string
  flags: { prompt?: string; workItem?: string }
}
