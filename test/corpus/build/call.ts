/** A tool call of a scenario: its input, its result, and the labels that follow from it. */
export interface Call {
  name: string
  input: Record<string, unknown>
  /** Result for the model, as a string or content blocks. */
  content: unknown
  error?: boolean
  /** The line's `toolUseResult`. */
  result: unknown
  /** Set only for `Bash` calls. */
  sandboxed?: boolean
  /** Further keys of the line, written before the keys common to all lines. */
  more?: Record<string, unknown>
  /** True when no permission decision was needed. */
  undecided?: boolean
  /** Called with the line of the call and of its result. */
  learn?: (callLine: number, resultLine: number, id: string) => void
}

/** Numbers a file's lines as the Read tool does. */
export function numbered(text: string, from = 1): string {
  return text
    .split('\n')
    .map((line, i) => `${from + i}\t${line}`)
    .join('\n')
}

export function readCall(file: string, text: string): Call {
  const lines = text.split('\n').length
  return {
    name: 'Read',
    input: { file_path: file },
    content: numbered(text),
    result: { type: 'text', file: { filePath: file, content: text, numLines: lines, startLine: 1, totalLines: lines } },
  }
}

const CURRENT = '(file state is current in your context — no need to Read it back)'

export function writeCall(file: string, text: string, before: string | null): Call {
  return {
    name: 'Write',
    input: { file_path: file, content: text },
    content:
      before === null
        ? `File created successfully at: ${file} ${CURRENT}`
        : `The file ${file} has been updated successfully. ${CURRENT}`,
    result: {
      type: before === null ? 'create' : 'update',
      filePath: file,
      content: text,
      structuredPatch: before === null ? [] : patch(before, text),
      originalFile: before,
      userModified: false,
    },
  }
}

export function editCall(file: string, old: string, now: string, around: string): Call {
  return {
    name: 'Edit',
    input: { replace_all: false, file_path: file, old_string: old, new_string: now },
    content: `The file ${file} has been updated successfully. ${CURRENT}`,
    result: {
      filePath: file,
      oldString: old,
      newString: now,
      originalFile: around,
      structuredPatch: patch(old, now),
      userModified: false,
      replaceAll: false,
    },
  }
}

function patch(before: string, after: string): unknown[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)]
  return [{ oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines }]
}

/** Makes a call that the client or the tool refused. */
export function refused(name: string, input: Record<string, unknown>, why: string, wrapped: boolean): Call {
  return {
    name,
    input,
    content: wrapped ? `<tool_use_error>${why}</tool_use_error>` : why,
    error: true,
    result: `Error: ${why}`,
    undecided: wrapped,
  }
}

const REJECTED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the " +
  'new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to ' +
  'proceed.'

export function rejected(name: string, input: Record<string, unknown>): Call {
  return {
    name,
    input,
    content: REJECTED,
    error: true,
    result: 'User rejected tool use',
    more: { toolDenialKind: 'user-rejected' },
    undecided: true,
  }
}

export function bashCall(command: string, out: string, exit: number, more: Record<string, unknown> = {}): Call {
  const input = { command, ...(more.input as Record<string, unknown> | undefined) }
  if (exit !== 0) {
    const text = out === '' ? `Exit code ${exit}` : `Exit code ${exit}\n${out}`
    return { name: 'Bash', input, content: text, error: true, result: `Error: ${text}`, sandboxed: false }
  }
  const quiet = out === ''
  return {
    name: 'Bash',
    input,
    content: quiet ? '(Bash completed with no output)' : out,
    error: false,
    result: {
      stdout: out,
      stderr: '',
      interrupted: false,
      isImage: false,
      noOutputExpected: false,
      ...(more.git === undefined ? {} : { gitOperation: more.git }),
    },
    sandboxed: false,
  }
}
