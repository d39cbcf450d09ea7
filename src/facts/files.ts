import type { Called, Returned } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { resolvePath, shownPath } from './paths.js'
import { filesOf } from './shell-files.js'
import type { Watcher } from './watcher.js'

interface State {
  found: Map<string, Fact>
  /** Changes whose call did not come back: they may have been made. */
  open: Map<string, Called>
  root: string | null
}

/** Files read and changed, by tools and by what command lines evidently do. A file that was changed once stays changed. */
export function watchFiles(state: State = { found: new Map(), open: new Map(), root: null }): Watcher {
  const { found, open } = state

  const put = (path: string, changed: boolean, line: number, at: number | null, removed = false): void => {
    let fact = found.get(path)
    if (fact === undefined) {
      const detail = { reads: 0, changes: 0, removed: false }
      fact = { kind: 'file', text: shownPath(path, state.root), line, at, state: 'read', detail }
      found.set(path, fact)
    }
    const { detail } = fact
    fact.line = line
    fact.at = at
    if (changed) {
      fact.state = 'changed'
      detail.changes = Number(detail.changes) + 1
      detail.removed = removed
    } else detail.reads = Number(detail.reads) + 1
  }

  return {
    state,
    called: (call) => {
      state.root ??= call.cwd ?? null
      if (call.act.type === 'change') open.set(call.callId, call)
    },
    returned: (returned, call) => {
      open.delete(call.callId)
      const { act } = call
      const cwd = call.cwd ?? state.root
      if (act.type === 'read' || act.type === 'change') {
        if (returned.ok !== false) put(resolvePath(act.path, cwd), act.type === 'change', returned.line, returned.at)
      } else if (act.type === 'command' && !returned.refused) byCommand(act.command, cwd, returned, act.background)
    },
    facts: () => [
      ...[...found.values()].map((fact) => ({ ...fact, detail: { ...fact.detail } })),
      ...[...open.values()].flatMap(unconfirmed),
    ],
  }

  function byCommand(command: string, cwd: string | null, returned: Returned, background: boolean): void {
    const { changed, read } = filesOf(command, cwd, returned.ok === false, returned.text)
    // What goes on in the background may not have come to it yet.
    if (!background) for (const path of read) put(path, false, returned.line, returned.at)
    for (const { path, removed } of changed) put(path, true, returned.line, returned.at, removed)
  }

  function unconfirmed(call: Called): Fact[] {
    if (call.act.type !== 'change') return []
    const path = resolvePath(call.act.path, call.cwd ?? state.root)
    if (found.get(path)?.state === 'changed') return []
    const detail = { reads: 0, changes: 1, removed: false, unconfirmed: true }
    return [{ kind: 'file', text: shownPath(path, state.root), line: call.line, at: call.at, state: 'changed', detail }]
  }
}
