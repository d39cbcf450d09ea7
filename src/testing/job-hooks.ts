import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HookSpec, JobRecord, JobSpec } from '../contract/records/job.js'
import { aJob as anyJob } from './sample-job.js'

/** Returns a shell hook of a job. */
export const shellHook = (command: string, more: Partial<Extract<HookSpec, { type: 'shell' }>> = {}): HookSpec => ({
  type: 'shell',
  name: null,
  onEvents: null,
  when: null,
  continueOnError: true,
  timeoutMs: 30_000,
  command,
  ...more,
})

export const webhookHook = (url: string, more: Partial<Extract<HookSpec, { type: 'webhook' }>> = {}): HookSpec => ({
  type: 'webhook',
  name: null,
  onEvents: null,
  when: null,
  continueOnError: true,
  timeoutMs: 30_000,
  url,
  method: 'POST',
  headers: {},
  ...more,
})

export const jobSpecWithHooks = (more: Partial<JobSpec> = {}): JobSpec => {
  const { spec } = anyJob()
  const workspace = { ...spec.workspace, strategy: 'git_worktree' as const, branchPattern: 'agent/{agent}/{workItem}' }
  return { ...spec, agentName: 'coder', prompt: 'Build it.', folder: '/repo', workspace, ...more }
}

export const jobWithHooks = (more: Partial<JobRecord> = {}): JobRecord =>
  anyJob({
    jobId: 'j1',
    seatId: 'seat',
    spec: jobSpecWithHooks(),
    sessionId: 's1',
    stateAt: '2026-02-16T09:00:00Z',
    workspace: {
      folder: '/repo/.worktrees/j1',
      worktree: { path: '/repo/.worktrees/j1', branch: 'agent/coder/j1', base: 'main', repository: '/repo' },
    },
    createdAt: '2026-02-16T09:00:00Z',
    startedAt: '2026-02-16T09:00:00Z',
    ...more,
  })

export interface ReceivedRequest {
  path: string
  method: string
  headers: IncomingMessage['headers']
  body: string
}

/** Starts a server on loopback. If `answer` returns null, it never answers that request. */
export async function startHookReceiver(
  answer: (received: ReceivedRequest) => { status?: number; headers?: Record<string, string>; body?: string } | null,
) {
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const one = { path: request.url!, method: request.method!, headers: request.headers, body }
    received.push(one)
    const reply = answer(one)
    if (reply) response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url, received, close }
}
