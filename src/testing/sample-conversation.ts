import type { CallEntry, Entry, ResultEntry, TextEntry, ToolAction } from '../contract/conversation.js'

/** Returns a conversation entry with text of the user or the agent. */
export function said(by: TextEntry['by'], text: string, more: Partial<TextEntry> = {}): TextEntry {
  return { kind: 'said', by, text, line: 1, at: null, ...more }
}

let calls = 0

export function called(act: ToolAction, more: Partial<CallEntry> = {}): CallEntry {
  const tool = act.type === 'command' ? 'Bash' : act.type
  return { kind: 'called', callId: `call-${++calls}`, tool, act, line: 1, at: null, cwd: '/home/me/project', ...more }
}

export function returned(call: CallEntry, text: string, more: Partial<ResultEntry> = {}): ResultEntry {
  const ok = more.exitCode === undefined || more.exitCode === null || more.exitCode === 0
  const exitCode = call.act.type === 'command' && !call.act.background ? 0 : null
  return {
    kind: 'returned',
    callId: call.callId,
    text,
    ok,
    exitCode,
    interrupted: false,
    answers: [],
    line: 2,
    at: null,
    ...more,
  }
}

/** Returns a command's call and its result. */
export function ran(
  command: string,
  output = '',
  more: Partial<ResultEntry> & { cwd?: string; background?: boolean } = {},
): Entry[] {
  const { cwd, background = false, ...rest } = more
  const call = called({ type: 'command', command, background }, cwd === undefined ? {} : { cwd })
  return [call, returned(call, output, rest)]
}
