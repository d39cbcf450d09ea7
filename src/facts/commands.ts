import type { Called, Returned } from '../contract/conversation.js'
import type { Fact, FactState } from '../contract/fact.js'
import type { Watcher } from './watcher.js'

/** Commands with how they ended. One that ran several times is one fact: how it ended last, and how often it ran. */
export function watchCommands(): Watcher {
  const found = new Map<string, Fact>()
  const open = new Map<string, Called>()

  const put = (call: Called, state: FactState, line: number, at: number | null, more: Fact['detail'], again: boolean): void => {
    const text = commandOf(call)
    const before = found.get(text)
    const runs = Number(before?.detail.runs ?? 0) + (again ? 0 : 1)
    found.set(text, {
      kind: 'command',
      text,
      line,
      at,
      state,
      detail: { ...more, by: call.tool === '!' ? 'user' : 'agent', runs: Math.max(1, runs) },
    })
  }

  return {
    called: (call) => {
      if (call.act.type === 'command' && commandOf(call) !== '') open.set(call.callId, call)
    },
    returned: (returned, call) => {
      if (call.act.type !== 'command' || commandOf(call) === '') return
      const first = open.delete(call.callId)
      if (returned.refused && !returned.interrupted) return
      const more: Fact['detail'] = { exitCode: returned.exitCode }
      if (returned.interrupted) more.interrupted = true
      put(call, stateOf(call, returned, first), returned.line, returned.at, more, !first)
    },
    facts: () => {
      const unreturned = [...open.values()].map(
        (call): Fact => ({
          kind: 'command',
          text: commandOf(call),
          line: call.line,
          at: call.at,
          state: 'unknown',
          detail: { exitCode: null, by: 'agent', runs: 1 },
        }),
      )
      return [...found.values(), ...unreturned.filter(({ text }) => !found.has(text))]
    },
  }
}

export const commandOf = (call: Called): string => (call.act.type === 'command' ? call.act.command.trim() : '')

function stateOf(call: Called, { ok, exitCode, interrupted }: Returned, first: boolean): FactState {
  if (interrupted) return 'unknown'
  if (exitCode !== null) return exitCode === 0 ? 'ok' : 'failed'
  if (first && call.act.type === 'command' && call.act.background && ok !== false) return 'running'
  return ok === null ? 'unknown' : ok ? 'ok' : 'failed'
}
