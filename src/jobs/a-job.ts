import type { AttemptRecord, JobRecord } from '../contract/job.js'

/** For tests: a job as it is when it was just asked for. */
export function aJob(change: Partial<JobRecord> = {}): JobRecord {
  return {
    jobId: 'job_1',
    seatId: 'seat_1',
    parentSeatId: null,
    spec: {
      ...{ agentName: null, agent: 'claude-code', prompt: 'Mend the parser.', workItem: null, model: null, permissionMode: null },
      ...{ allowedTools: null, disallowedTools: null, appendSystemPrompt: null, runtime: 'scripted', folder: '/nowhere' },
      workspace: {
        ...{ strategy: 'none', worktreeDir: '.worktrees', branchPattern: 'baton/{job}', baseBranch: null },
        ...{ pushOnSuccess: false, createPr: false, removeClean: true },
      },
      ...{ handoffAtRemaining: 0.1, maxHandoffs: 3, afterMaxHandoffs: 'compact', sessionTimeoutMs: null, silenceMs: 900_000 },
      ...{ checks: [], checkRounds: 3, budgets: { usd: null, tokens: null, turns: null, minutes: null } },
      hooks: { onContextThreshold: [], onSessionStart: [], afterRun: [], onError: [] },
      env: {},
    },
    ...{ state: 'running', stateAt: '2026-11-16T04:00:00.000Z', exitReason: null, detail: '', wanted: null, runner: null },
    ...{ workspace: null, sessionId: null, handoffs: 0, compactions: 0, failures: 0, checkRound: 0, checks: [], waitUntil: null },
    ...{ createdAt: '2026-11-16T04:00:00.000Z', startedAt: null, endedAt: null, ranMs: 0, result: null },
    ...change,
  }
}

export function anAttempt(change: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    ...{ attemptId: 'attempt_1', jobId: 'job_1', sessionId: '00000000-0000-4000-8000-000000000001', number: 1, start: 'fresh' },
    ...{ briefId: null, state: 'working', process: null, startedAt: '2026-11-16T04:00:00.000Z' },
    ...{ endedAt: null, terminal: null, usedTokens: null, windowTokens: null, pointTokens: null, turns: 0 },
    spend: { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 },
    ...{ costUsd: null, compactions: 0 },
    ...change,
  }
}
