import { spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { forkArguments, forkEnvironment, forkSettings, parseForkOutput } from '../../src/agents/claude-code/fork.js'
import { countOccurrences, type LogEntry, visibleTexts } from '../../src/model/log.js'
import { clientBinary } from '../harness/paths.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, stage } from '../harness/stage.js'
import {
  BRIEF,
  CLIMB,
  CONTINUE,
  FRESH,
  inState,
  MODEL,
  PROMPT,
  type TmuxStage,
  tmuxStage,
} from './handoff-tmux-stage.js'

const CONFIG = 'handoff: { bar: 0.3, fork: true }\n'
const COPY = 'You are a copy of the session'
/**
 * The agent ignores the request for a brief. A fork has the same conversation and takes the next
 * step.
 */
const IGNORES = [...CLIMB, { text: 'I would rather go on.', used: 152_008 }]

const forked = (it: TmuxStage): LogEntry[] => it.model.log().filter((entry) => countOccurrences(entry, COPY) > 0)
const transcripts = (it: TmuxStage): string[] => {
  const projects = path.join(it.home.configDir, 'projects')
  return (readdirSync(projects, { recursive: true }) as string[]).filter((name) => name.endsWith('.jsonl'))
}

test('a fork writes the brief that the agent did not give, without a trace in the session', async () => {
  const it = await tmuxStage(
    { steps: [...IGNORES, { text: BRIEF, used: 153_008 }], conversations: [FRESH] },
    { server: true, mod: true, config: CONFIG },
  )
  await it.tui.submit(PROMPT)
  await it.tui.waitFor(/Item 3 is noted/)
  const fresh = it.tui.sessionId()!
  expect(fresh).not.toBe(it.old)
  const done = await inState(it, 'done')
  expect(done.fork).toMatchObject({ outcome: 'wrote', tries: 1 })
  const first = JSON.stringify(mainRequests(it.model, fresh)[0]!.body)
  expect(first).toContain('because the shop opens on Monday')
  expect(first).toContain('A copy of that session wrote the brief')
  expect(first).toContain(CONTINUE)
  // Three steps and the answer, the fork's one, the fresh session's one.
  expect(it.model.log().filter(({ kind }) => kind === 'main')).toHaveLength(6)
  const [asked, ...more] = forked(it)
  expect(more).toEqual([])
  expect(visibleTexts(asked!).join('\n')).toContain(PROMPT)
  expect(asked!.session_id).not.toBe(it.old)
  const sessions = (await it.ask<{ sessions: { session_id: string; seat_id: string }[] }>('status', '--all')).sessions
  expect(sessions.map(({ session_id }) => session_id).sort()).toEqual([it.old, fresh].sort())
  expect(new Set(sessions.map(({ seat_id }) => seat_id)).size).toBe(1)
  expect(transcripts(it)).toHaveLength(2)
  const [brief] = (await it.ask<{ briefs: { author: string; status: string }[] }>('handoffs', 'list', '--all')).briefs
  expect(brief).toMatchObject({ author: 'fork', status: 'used' })
  expect((await it.events('handoff_completed'))[0]!.data).toMatchObject({ fork: 'wrote' })
  expect((await it.events()).filter(({ session_id }) => session_id === asked!.session_id)).toEqual([])
})

test('a fork is denied every tool, whatever the session may use, and then answers with its brief', async () => {
  const steps = [
    { text: 'Noted.', used: 20_008 },
    { bash: 'touch made-by-the-fork', used: 21_008 },
    { text: BRIEF, used: 22_008 },
  ]
  const settings = { permissions: { allow: ['Bash'], defaultMode: 'bypassPermissions' }, disableAllHooks: true }
  const it = await stage({ steps }, { settings })
  const { sessionId } = await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  const of = { sessionId: sessionId!, client: null, folder: it.home.project }
  const settingsFile = path.join(it.home.configDir, 'of-the-fork.json')
  writeFileSync(settingsFile, JSON.stringify(forkSettings(of)))
  const args = forkArguments(of, settingsFile)
  const options = { cwd: it.home.project, env: forkEnvironment(it.home.env) }
  const child = spawn(clientBinary(), args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end('Give the brief.')
  let printed = ''
  for await (const piece of child.stdout.setEncoding('utf8')) printed += piece
  expect(parseForkOutput(printed).answer).toContain('because the shop opens on Monday')
  expect(existsSync(path.join(it.home.project, 'made-by-the-fork'))).toBe(false)
  expect(mainRequests(it.model)).toHaveLength(3)
})
