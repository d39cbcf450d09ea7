import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { SessionOptions } from '../../src/contract/runtime.js'
import { recordingListener, recordSession } from '../../src/jobs/runtimes/recorded-session.cases.js'
import { ENDLESS, type Plan } from '../../src/jobs/runtimes/runtime.cases.js'
import { isAlive } from '../../src/lib/process-info.js'
import { alive } from '../harness/processes.js'
import { until } from '../harness/wait.js'
import type { RealPlace } from './runtime-place.js'

/** Tests that every runtime with a real client must pass. */
export function realCases(place: (plan: Plan) => Promise<RealPlace>): void {
  const sessionOptions = (at: RealPlace): SessionOptions => ({
    sessionId: randomUUID(),
    begin: { how: 'fresh' },
    cwd: at.cwd,
    env: at.env,
    model: 'claude-opus-4-6',
    permissionMode: 'bypassPermissions',
    allowedTools: null,
    disallowedTools: ['WebFetch'],
    appendSystemPrompt: 'Speak of lighthouses.',
    maxTurns: 9,
    maxBudgetUsd: 50,
    compacts: true,
  })
  const toolPid = (at: RealPlace): number | null => {
    try {
      return Number(readFileSync(path.join(at.cwd, 'endless.pid'), 'utf8')) || null
    } catch {
      return null
    }
  }

  test('a killed client is reported with its signal, and kill ends its orphaned tool', async () => {
    const at = await place({ steps: [{ run: [ENDLESS] }] })
    const recorded = recordSession(at.runtime.start(sessionOptions(at), recordingListener()))
    expect(isAlive(recorded.session.process!)).toBe(true)
    recorded.session.say('work')
    const tool = await until('the tool runs', () => toolPid(at))
    const first = at.requests()[0]!
    expect(first).toContain('Speak of lighthouses.')

    process.kill(recorded.session.process!.pid, 'SIGKILL')
    expect(await recorded.next('exit')).toMatchObject({ code: null, signal: 'SIGKILL' })
    expect(recorded.messages.at(-1)!.kind).toBe('exit')
    expect(recorded.of('started')[0]!.tools).not.toContain('WebFetch')
    expect(alive(tool)).toBe(true)
    recorded.session.kill()
    await until('the tool is gone', () => !alive(tool))
    await recorded.session.end()
    expect(isAlive(recorded.session.process!)).toBe(false)
  })

  test.each([
    ['never comes', 'hang'],
    ['stops in the middle', 'stall'],
  ] as const)('an interrupt ends a turn whose answer %s, and the session accepts another prompt', async (_, fail) => {
    const at = await place({
      steps: [{ text: 'Never said.', fail }],
      replies: [{ when: 'still there?', text: 'Here again.' }],
    })
    const recorded = recordSession(at.runtime.start(sessionOptions(at), recordingListener()))
    recorded.session.say('work')
    await until('the model is asked', () => at.requests().length === 1)
    await recorded.session.interrupt()
    expect((await recorded.next('result')).isError).toBe(true)
    recorded.session.say('still there?')
    expect(await recorded.next('result', 2)).toMatchObject({ isError: false, text: 'Here again.' })
    await recorded.session.end()
  })

  test('kill ends the client and its tool at once', async () => {
    const at = await place({ steps: [{ run: [ENDLESS] }] })
    const recorded = recordSession(at.runtime.start(sessionOptions(at), recordingListener()))
    recorded.session.say('work')
    const tool = await until('the tool runs', () => toolPid(at))
    recorded.session.kill()
    expect(await recorded.next('exit')).toMatchObject({ signal: 'SIGKILL' })
    await until('the tool is gone', () => !alive(tool))
  })

  test('a client that exits at once is reported with its reason, and one that cannot be started throws', async () => {
    const at = await place({ steps: [{ text: 'Done.' }] })
    const recorded = recordSession(
      at.runtime.start({ ...sessionOptions(at), sessionId: 'no UUID' }, recordingListener()),
    )
    recorded.session.say('work')
    expect(await recorded.next('exit')).toMatchObject({ code: 1, trouble: expect.stringMatching(/session id/i) })
    expect(await recorded.session.usage()).toBeNull()
    expect(() =>
      at.runtime.start({ ...sessionOptions(at), cwd: path.join(at.cwd, 'nowhere') }, recordingListener()),
    ).toThrow(/working folder/)
  })
}
