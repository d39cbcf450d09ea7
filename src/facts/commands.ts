import type { Called, Returned } from '../contract/conversation.js'
import type { Fact, FactState } from '../contract/fact.js'
import type { Watcher } from './watcher.js'

/** Commands with how they ended. One that ran several times is one fact: how it ended last, and how often it ran. */
export function watchCommands(
  state: { found: Map<string, Fact>; open: Map<string, Called> } = { found: new Map(), open: new Map() },
): Watcher {
  const { found, open } = state

  const put = (call: Called, text: string, returned: Returned, first: boolean): void => {
    let fact = found.get(text)
    if (fact === undefined) {
      fact = { kind: 'command', text, line: 0, at: null, state: null, detail: { exitCode: null, by: 'agent', runs: 0 } }
      found.set(text, fact)
    }
    fact.line = returned.line
    fact.at = returned.at
    fact.state = stateOf(call, returned, first)
    fact.detail.exitCode = returned.exitCode
    fact.detail.by = call.tool === '!' ? 'user' : 'agent'
    if (first) fact.detail.runs = Number(fact.detail.runs) + 1
    if (returned.interrupted) fact.detail.interrupted = true
    else if (fact.detail.interrupted === true) delete fact.detail.interrupted
  }

  return {
    state,
    called: (call) => {
      if (call.act.type === 'command' && commandOf(call) !== '') open.set(call.callId, call)
    },
    returned: (returned, call) => {
      const text = commandOf(call)
      if (text === '') return
      const first = open.delete(call.callId)
      if (!returned.refused || returned.interrupted) put(call, text, returned, first)
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
      const told = [...found.values()].map((fact) => ({ ...fact, detail: { ...fact.detail } }))
      return [...told, ...unreturned.filter(({ text }) => !found.has(text))]
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
