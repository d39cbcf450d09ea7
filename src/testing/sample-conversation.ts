import type { Act, Called, Entry, Returned, Said } from '../contract/conversation.js'

/** Entries for the tests of this room. */
export function said(by: Said['by'], text: string, more: Partial<Said> = {}): Said {
  return { kind: 'said', by, text, line: 1, at: null, ...more }
}

let calls = 0

export function called(act: Act, more: Partial<Called> = {}): Called {
  const tool = act.type === 'command' ? 'Bash' : act.type
  return { kind: 'called', callId: `call-${++calls}`, tool, act, line: 1, at: null, cwd: '/home/me/project', ...more }
}

export function returned(call: Called, text: string, more: Partial<Returned> = {}): Returned {
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

/** A command with its outcome. */
export function ran(
  command: string,
  output = '',
  more: Partial<Returned> & { cwd?: string; background?: boolean } = {},
): Entry[] {
  const { cwd, background = false, ...rest } = more
  const call = called({ type: 'command', command, background }, cwd === undefined ? {} : { cwd })
  return [call, returned(call, output, rest)]
}
