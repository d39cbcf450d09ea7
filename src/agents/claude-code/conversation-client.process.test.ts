import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Home, makeHome } from '../../../test/harness/home.js'
import { runPrint } from '../../../test/harness/run-print.js'
import type { CallEntry, Entry, ResultEntry, ToolAction } from '../../contract/conversation.js'
import { startModel } from '../../model/model.js'
import type { ScriptInput } from '../../model/script.js'
import { readConversation } from './conversation.js'

/**
 * Runs the real client with the scripted model, so that the reader is tested with its real output.
 */
async function converse(
  script: ScriptInput,
  prompt: string,
): Promise<{ entries: Entry[]; unread: number; home: Home }> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const run = await runPrint(home, { prompt, model: 'claude-sonnet-4-5' })
  const folder = path.join(home.configDir, 'projects', home.project.replace(/[^a-zA-Z0-9]/g, '-'))
  const entries: Entry[] = []
  const { unread } = readConversation(path.join(folder, `${run.sessionId}.jsonl`), {
    onEntry: (entry) => entries.push(entry),
  })
  return { entries, unread, home }
}

function outcomes(entries: Entry[]): [ToolAction, ResultEntry | undefined][] {
  const back = entries.filter((entry): entry is ResultEntry => entry.kind === 'returned')
  return entries
    .filter((entry): entry is CallEntry => entry.kind === 'called')
    .map((call) => [call.act, back.find(({ callId }) => callId === call.callId)])
}

test('tools, their results, todos and text of the current client are read', async () => {
  const { entries, unread, home } = await converse(
    {
      steps: [
        {
          text: 'I look first.',
          tools: [
            { name: 'Read', input: { file_path: '{{cwd}}/README.md' } },
            { name: 'Bash', input: { command: 'echo out; exit 3' } },
          ],
        },
        { tools: [{ name: 'Write', input: { file_path: '{{cwd}}/new.ts', content: 'x\n' } }] },
        { tools: [{ name: 'Edit', input: { file_path: '{{cwd}}/none.md', old_string: 'a', new_string: 'b' } }] },
        { tools: [{ name: 'TaskCreate', input: { subject: 'first', description: 'the first' } }] },
        { tools: [{ name: 'TaskUpdate', input: { taskId: '1', status: 'completed' } }] },
        { bash: 'grep nothing README.md' },
        {
          bash:
            'git checkout -q -b feature/x && git add -A && ' +
            'git -c user.name=t -c user.email=t@t commit -m "Add new"',
        },
        'All done. Shall I push?',
      ],
    },
    'Fix it.\nNever push.',
  )
  expect(unread).toBe(0)
  expect(entries[0]).toMatchObject({ kind: 'said', by: 'user', text: 'Fix it.\nNever push.', branch: 'main' })
  expect(entries.at(-1)).toMatchObject({ kind: 'said', by: 'agent', text: 'All done. Shall I push?' })
  const readme = path.join(home.project, 'README.md')
  expect(outcomes(entries)).toMatchObject([
    [
      { type: 'read', path: readme },
      { ok: true, exitCode: null, text: expect.stringContaining('# A project') },
    ],
    [
      { type: 'command', command: 'echo out; exit 3' },
      { ok: false, exitCode: 3 },
    ],
    [{ type: 'change' }, { ok: true }],
    [{ type: 'change' }, { ok: false, refused: true }],
    [
      { type: 'todos', whole: false },
      { ok: true, todos: [{ id: '1', text: 'first', status: 'open' }] },
    ],
    [{ type: 'todos', todos: [{ id: '1', status: 'done' }] }, { ok: true }],
    [{ type: 'command' }, { ok: true, exitCode: null }],
    [{ type: 'command' }, { ok: true, exitCode: 0, text: expect.stringContaining('[feature/x ') }],
  ])
})

test('a compaction of the current client is read with its summary and the lines it kept', async () => {
  const { entries } = await converse(
    {
      steps: [
        { bash: 'echo 1', used: 50_008 },
        { bash: 'echo 2', used: 60_008 },
        { text: 'never given', fail: 'too-long' },
      ],
      summary: 'The user wants it all.',
      after_compaction: ['Done.'],
    },
    'go',
  )
  const at = entries.findIndex(({ kind }) => kind === 'compacted')
  const compacted = entries[at]
  expect(compacted).toMatchObject({
    kind: 'compacted',
    trigger: 'auto',
    summary: expect.stringContaining('The user wants it all.'),
  })
  const kept = compacted?.kind === 'compacted' ? compacted.keptLines : []
  expect(kept.length).toBeGreaterThan(0)
  expect(entries.slice(0, at).filter(({ line }) => kept.includes(line))).toContainEqual(
    expect.objectContaining({ kind: 'called', act: expect.objectContaining({ command: 'echo 2' }) }),
  )
  expect(entries.filter((entry) => entry.kind === 'said' && entry.by === 'user')).toHaveLength(1)
})
