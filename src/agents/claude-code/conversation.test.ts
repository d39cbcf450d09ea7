import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CallEntry, CompactionEntry, Entry, ResultEntry } from '../../contract/conversation.js'
import { readConversation } from './conversation.js'
import {
  answerLine,
  callLine,
  entriesOf,
  makeLine,
  promptLine,
  readEntries,
  resultLine,
  temporaryFolder,
  writeTranscript,
} from './fixtures/conversation-lines.js'

test('prompts belong to the user and answers to the agent, one entry per block', () => {
  const { said } = readEntries(
    writeTranscript(
      promptLine('fix it\nplease'),
      answerLine({ type: 'thinking', thinking: 'hm' }),
      answerLine({ type: 'text', text: 'I look.' }),
    ),
  )
  expect(said.map(({ by, text, line }) => [by, text, line])).toEqual([
    ['user', 'fix it\nplease', 1],
    ['agent', 'I look.', 3],
  ])
  expect(said[0]).toMatchObject({ at: Date.parse('2026-11-15T20:39:05.460Z'), branch: 'main' })
  expect(said[1]).not.toHaveProperty('branch')
})

test.each([
  [
    'a finished background task',
    promptLine('<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>'),
  ],
  ['a prompt of another program', promptLine('do this', { origin: { kind: 'peer' } })],
  ['a text only the model sees', promptLine('Fix issue 42. Never push.', { isMeta: true })],
  ['a reminder', promptLine('<system-reminder>\nThe file changed.\n</system-reminder>')],
  ['an interruption', promptLine([{ type: 'text', text: '[Request interrupted by user for tool use]' }])],
  [
    'a command of the client itself',
    promptLine('<command-name>/compact</command-name>\n<command-args>keep the names</command-args>'),
  ],
  ['what such a command printed', promptLine('<local-command-stdout>Compacted</local-command-stdout>')],
  ['feedback of a hook', promptLine('Stop hook feedback:\nNever stop.')],
  [
    'an error of the API in the agent’s place',
    { ...answerLine({ type: 'text', text: 'API Error: 500' }), isApiErrorMessage: true },
  ],
])("a text that is not the user's request is attributed to others: %s", (_, line) => {
  expect(readEntries(writeTranscript(line)).said.map(({ by }) => by)).toEqual(['other'])
})

test('lines of a subagent are omitted, and are all there is in its own transcript', () => {
  const file = writeTranscript(promptLine('main'), promptLine('sub', { isSidechain: true }))
  expect(readEntries(file).said.map(({ text }) => text)).toEqual(['main'])
  expect(readEntries(file, { chain: 'subagent' }).said.map(({ text }) => text)).toEqual(['sub'])
})

test('a prompt of several blocks is one entry, without blocks that the client added', () => {
  const blocks = ['<system-reminder>x</system-reminder>', 'look at', '<ide_selection>code</ide_selection>', 'this'].map(
    (text) => ({
      type: 'text',
      text,
    }),
  )
  expect(readEntries(writeTranscript(promptLine(blocks))).said.map(({ by, text }) => [by, text])).toEqual([
    ['user', 'look at\nthis'],
  ])
})

test('a command of the project is reported as it was typed', () => {
  const words =
    '<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>42</command-args>'
  expect(readEntries(writeTranscript(promptLine(words))).said).toMatchObject([{ by: 'user', text: '/fix 42' }])
})

test('a prompt sent during a turn counts once, and one that the agent never received is not lost', () => {
  const { said } = readEntries(
    writeTranscript(
      {
        type: 'queue-operation',
        operation: 'enqueue',
        content: 'never touch x',
        timestamp: '2026-11-15T20:39:05.460Z',
      },
      { type: 'queue-operation', operation: 'remove', content: 'never touch x' },
      makeLine({
        type: 'attachment',
        attachment: {
          type: 'queued_command',
          prompt: 'never touch x',
          commandMode: 'prompt',
          origin: { kind: 'human' },
        },
      }),
      { type: 'queue-operation', operation: 'enqueue', content: 'too late' },
    ),
  )
  expect(said.map(({ by, text, line }) => [by, text, line])).toEqual([
    ['user', 'never touch x', 3],
    ['user', 'too late', 4],
  ])
})

test('a shell command of the user is a command without a known result', () => {
  const entries = entriesOf(
    promptLine('<bash-input>git status</bash-input>'),
    promptLine('<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>'),
  )
  expect(entries).toMatchObject([
    { kind: 'called', tool: '!', act: { type: 'command', command: 'git status' } },
    { kind: 'returned', text: 'clean', ok: null, exitCode: null },
  ])
})

test.each<[string, object, CallEntry['act']]>([
  ['Read', { file_path: '/a' }, { type: 'read', path: '/a' }],
  ['Edit', { file_path: '/a', old_string: 'x' }, { type: 'change', path: '/a' }],
  ['Write', { file_path: '/a', content: 'x' }, { type: 'change', path: '/a', written: 'x' }],
  ['MultiEdit', { file_path: '/a', edits: [] }, { type: 'change', path: '/a' }],
  [
    'MultiEdit',
    {
      file_path: '/a',
      edits: [
        { old_string: 'b', new_string: 'c' },
        { old_string: 'd', new_string: '' },
      ],
    },
    { type: 'change', path: '/a', written: 'c\nb\nd' },
  ],
  ['NotebookEdit', { notebook_path: '/n.ipynb', new_source: 'x' }, { type: 'change', path: '/n.ipynb' }],
  ['Bash', { command: 'ls', run_in_background: true }, { type: 'command', command: 'ls', background: true }],
  [
    'TodoWrite',
    { todos: [{ content: 'a', status: 'in_progress' }] },
    { type: 'todos', whole: true, todos: [{ id: null, text: 'a', status: 'doing' }] },
  ],
  [
    'TaskCreate',
    { subject: 'a', description: 'b' },
    { type: 'todos', whole: false, todos: [{ id: null, text: 'a', status: 'open' }] },
  ],
  [
    'TaskUpdate',
    { taskId: '1', status: 'deleted' },
    { type: 'todos', whole: false, todos: [{ id: '1', text: '', status: 'dropped' }] },
  ],
  ['AskUserQuestion', { questions: [{ question: 'Which?' }] }, { type: 'ask', questions: ['Which?'] }],
  ['ExitPlanMode', { plan: '# Move it\n1. copy' }, { type: 'ask', questions: ['Approve the plan "Move it"?'] }],
  ['Agent', { description: 'Look', prompt: 'find it' }, { type: 'delegate', task: 'Look\nfind it' }],
  ['Grep', { pattern: 'x', path: 'src' }, { type: 'other', words: 'x\nsrc' }],
  ['mcp__db__query', { sql: 'select 1', limit: 3 }, { type: 'other', words: 'select 1' }],
])('a call of %s is read with its action', (name, input, act) => {
  expect(entriesOf(callLine('t1', name, input))).toMatchObject([
    { kind: 'called', callId: 't1', tool: name, act, cwd: '/home/me/project' },
  ])
})

test.each<[string, object, Partial<ResultEntry>]>([
  [
    'success',
    resultLine('t1', 'fine', { is_error: false, toolUseResult: { stdout: 'fine', stderr: '' } }),
    { ok: true, exitCode: 0 },
  ],
  [
    'an exit status',
    resultLine('t1', 'Exit code 3\nout', { is_error: true, toolUseResult: 'Error: Exit code 3\nout' }),
    { ok: false, exitCode: 3 },
  ],
  [
    'a time limit',
    resultLine('t1', 'Exit code 143\nCommand timed out after 1s', { is_error: true }),
    { ok: false, exitCode: 143 },
  ],
  [
    'a status that is usual',
    resultLine('t1', '', { toolUseResult: { returnCodeInterpretation: 'No matches found' } }),
    { ok: true, exitCode: null },
  ],
  [
    'a block',
    resultLine('t1', '<tool_use_error>Blocked: sleep</tool_use_error>', { is_error: true }),
    { ok: false, exitCode: null, refused: true },
  ],
  [
    'a refusal',
    resultLine('t1', "The user doesn't want to proceed with this tool use.", {
      is_error: true,
      toolDenialKind: 'user-rejected',
    }),
    { ok: false, refused: true, interrupted: true },
  ],
])('a command that returned with %s is read with its outcome', (_, line, outcome) => {
  expect(entriesOf(callLine('t1', 'Bash', { command: 'x' }), line)[1]).toMatchObject(outcome)
})

test('text that the user typed when declining a call belongs to the user', () => {
  const words =
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse pnpm"
  const { said } = readEntries(
    writeTranscript(callLine('t1', 'Bash', { command: 'npm i' }), resultLine('t1', words, { is_error: true })),
  )
  expect(said).toMatchObject([{ by: 'user', text: 'use pnpm' }])
})

test('a background command returns twice: when started, and when ended with its status', () => {
  const notice =
    '<task-notification>\n<task-id>b7</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>failed</status>\n' +
    '<summary>Background command "x" failed (exit code 4)</summary>\n</task-notification>'
  const entries = entriesOf(
    callLine('t1', 'Bash', { command: 'x', run_in_background: true }),
    resultLine('t1', 'Command running in background with ID: b7.', {
      toolUseResult: { stdout: '', stderr: '', backgroundTaskId: 'b7' },
    }),
    promptLine(notice, { origin: { kind: 'task-notification' } }),
  )
  expect(entries.filter(({ kind }) => kind === 'returned')).toMatchObject([
    { callId: 't1', ok: true, exitCode: null },
    { callId: 't1', ok: false, exitCode: 4 },
  ])
})

test('a task gets its id with its result, and an update without a status keeps the status', () => {
  const entries = entriesOf(
    callLine('t1', 'TaskCreate', { subject: 'first' }),
    resultLine('t1', 'Task #1 created successfully: first', { toolUseResult: { task: { id: '1', subject: 'first' } } }),
    callLine('t2', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    callLine('t3', 'TaskUpdate', { taskId: '1', subject: 'the first' }),
  )
  expect(entries[1]).toMatchObject({ todos: [{ id: '1', text: 'first', status: 'open' }] })
  expect(entries[3]).toMatchObject({ act: { todos: [{ id: '1', text: 'the first', status: 'done' }] } })
})

test('answers to a dialog are reported', () => {
  const told = { questions: [], answers: { 'Which?': 'Alpha', 'How many?': 'Two' } }
  const entries = entriesOf(
    callLine('t1', 'AskUserQuestion', { questions: [] }),
    resultLine('t1', 'Your questions…', { toolUseResult: told }),
  )
  expect(entries[1]).toMatchObject({ answers: ['Alpha', 'Two'] })
})

test('a file named with @ counts as read', () => {
  const attachment = { type: 'file', filename: '/home/me/project/README.md', content: {} }
  expect(entriesOf(makeLine({ type: 'attachment', attachment }))).toMatchObject([
    { kind: 'called', tool: '@', act: { type: 'read', path: '/home/me/project/README.md' } },
    { kind: 'returned', ok: true },
  ])
})

test('a compaction is reported with its summary and the lines that were kept', () => {
  const kept = [promptLine('first'), answerLine({ type: 'text', text: 'second' })]
  const compactMetadata = {
    trigger: 'auto',
    preservedMessages: { uuids: [kept[1]!.uuid], allUuids: kept.map(({ uuid }) => uuid) },
  }
  const entries = entriesOf(
    ...[promptLine('gone'), ...kept, makeLine({ type: 'system', subtype: 'compact_boundary', compactMetadata })],
    makeLine({ type: 'attachment', attachment: { type: 'date', date: '2026-11-15' } }),
    promptLine('This session is being continued. Summary: all.', { isCompactSummary: true }),
    promptLine('go on'),
  )
  const at = entries.findIndex(({ kind }) => kind === 'compacted')
  expect(entries[at] as CompactionEntry).toMatchObject({
    line: 4,
    trigger: 'auto',
    keptLines: [2, 3],
    summary: expect.stringContaining('all.'),
  })
  expect(entries[at + 1]).toMatchObject({ kind: 'said', by: 'user', text: 'go on' })
  expect(entries).toHaveLength(5)
})

test('a compaction without a summary is reported too', () => {
  const boundary = makeLine({ type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'manual' } })
  expect(entriesOf(boundary)).toMatchObject([{ kind: 'compacted', trigger: 'manual', summary: null, keptLines: [] }])
})

test('lines that cannot be parsed are counted, keep their numbers, and do not stop the read', () => {
  const { said, told } = readEntries(
    writeTranscript('{"type":"user","mess', '', 'null', '[1,2]', promptLine('still here'), '{"type":"unheard-of"}'),
  )
  expect(said).toMatchObject([{ text: 'still here', line: 5 }])
  expect(told).toMatchObject({ lines: 6, unread: 3, cut: 0, problem: null })
})

test('a line of 50 MB is read from its beginning, in bounded memory', () => {
  const long = 'x'.repeat(50 * 1024 * 1024)
  const file = writeTranscript(
    callLine('t1', 'Bash', { command: 'cat big' }),
    resultLine('t1', `head of it\n${long}`),
    promptLine('after'),
  )
  const before = process.memoryUsage().rss
  const { entries, told } = readEntries(file)
  expect(told).toMatchObject({ lines: 3, unread: 0, cut: 1 })
  expect(entries[1]).toMatchObject({ kind: 'returned', callId: 't1', text: expect.stringMatching(/^head of it\nx/) })
  expect((entries[1] as ResultEntry).text.length).toBeLessThan(300_000)
  expect(entries[2]).toMatchObject({ text: 'after', line: 3 })
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
})

test('an incomplete last line is left for the next read, which continues where this one ended', () => {
  const file = writeTranscript(promptLine('one'))
  const rest = JSON.stringify(promptLine('two'))
  appendFileSync(file, rest.slice(0, 40))
  const first = readEntries(file)
  expect(first.said.map(({ text }) => text)).toEqual(['one'])
  appendFileSync(file, `${rest.slice(40)}\n`)
  const next = readEntries(file, { from: first.told })
  expect(next.said).toMatchObject([{ text: 'two', line: 2 }])
  expect(next.told.lines).toBe(2)
})

test('nothing after `to` is read', () => {
  const file = writeTranscript(promptLine('one'), promptLine('two'))
  const { told } = readEntries(file, { to: JSON.stringify(promptLine('one')).length + 10 })
  expect(told.lines).toBe(1)
})

test('duplicate records of a result are not needed to read it', () => {
  const content = 'line\n'.repeat(1000)
  const file = { ...resultLine('t1', content), toolUseResult: { type: 'text', file: { filePath: '/a', content } } }
  const entries = entriesOf(callLine('t1', 'Read', { file_path: '/a' }), { ...file, sourceToolAssistantUUID: 'x' })
  expect(entries[1]).toMatchObject({ ok: true, text: content })
  const output = { ...resultLine('t2', content), toolUseResult: { stdout: content, stderr: '', interrupted: true } }
  expect(entriesOf(callLine('t2', 'Bash', { command: 'x' }), output)[1]).toMatchObject({
    interrupted: true,
    exitCode: null,
  })
})

test('read files are returned without their text on request', () => {
  const content = 'line "x"\n'.repeat(300)
  const toolUseResult = { type: 'text', file: { filePath: '/a', content } }
  const block = { tool_use_id: 't1', type: 'tool_result', content }
  const message = { role: 'user', content: [block] }
  const line = { isSidechain: false, type: 'user', message, uuid: 'u', toolUseResult, sourceToolAssistantUUID: 'x' }
  const file = writeTranscript(callLine('t1', 'Read', { file_path: '/a' }), line, promptLine('next'))
  const brief: Entry[] = []
  readConversation(file, { withoutFiles: true, onEntry: (entry) => brief.push(entry) })
  expect(brief[1]).toMatchObject({ kind: 'returned', callId: 't1', ok: true, text: '' })
  expect(brief).toHaveLength(3)
  expect(readEntries(file).entries[1]).toMatchObject({ text: content })
})

test('a file that is no transcript is reported as a problem', () => {
  const dir = temporaryFolder()
  expect(readEntries(join(dir, 'missing')).told.problem).toBe('ENOENT')
  mkdirSync(join(dir, 'folder'))
  expect(readEntries(join(dir, 'folder')).told.problem).toBe('not a file')
  writeFileSync(join(dir, 'empty'), '')
  expect(readEntries(join(dir, 'empty')).told).toMatchObject({ lines: 0, offset: 0, problem: null })
})
