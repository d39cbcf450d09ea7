import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { statusLine, TRIAL_TOKEN, trialServer } from './trial-server.js'

/**
 * Signals need no token, and whoever sends one names the transcript to read: anybody on the machine could ask for the words of any
 * conversation by telling of it.
 */
const WORD = 'swordfish'
const KNOWN = { Authorization: `Bearer ${TRIAL_TOKEN}` }

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function begun() {
  const trial = await trialServer()
  ends.push(trial.end)
  const transcript = join(trial.root, 's1.jsonl')
  const at = new Date().toISOString()
  const common = { sessionId: 's1', cwd: trial.root, version: '2.1.325', timestamp: at, isSidechain: false, userType: 'external' }
  const prompt = { role: 'user', content: `Never touch ${WORD}.txt: the auditors must find it as it is.` }
  const usage = { input_tokens: 8, output_tokens: 5, cache_creation_input_tokens: 1000, cache_read_input_tokens: 98_992 }
  const answer = {
    id: 'm1',
    role: 'assistant',
    model: 'claude-opus-4-6',
    content: [{ type: 'text', text: 'Understood.' }],
    usage,
  }
  const lines = [
    { ...common, type: 'user', uuid: 'u1', parentUuid: null, message: prompt },
    { ...common, type: 'assistant', uuid: 'u2', parentUuid: 'u1', message: answer },
  ]
  writeFileSync(transcript, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const told = async (event: string, extra: object, headers: Record<string, string> = {}): Promise<string> => {
    const body = { session_id: 's1', transcript_path: transcript, cwd: trial.root, hook_event_name: event, ...extra }
    return (await trial.post(`/signals/claude-code/${event}`, body, headers)).text()
  }
  await told('SessionStart', { source: 'startup', model: 'claude-opus-4-6' })
  await told('UserPromptSubmit', { prompt: 'go on' })
  return { trial, transcript, told }
}

it('who tells of a compaction without the token does not hear what the conversation held; the hook with it does', async () => {
  const { told } = await begun()
  expect(await told('PreCompact', { trigger: 'auto', custom_instructions: null })).not.toContain(WORD)
  expect(await told('PreCompact', { trigger: 'auto', custom_instructions: null }, KNOWN)).toContain(WORD)
  const after = { source: 'compact', model: 'claude-opus-4-6' }
  expect(await told('SessionStart', after)).not.toContain(WORD)
  expect(await told('SessionStart', after, KNOWN)).toContain(WORD)
})

it('what somebody wrote to a seat waits for its hook, which gives the token', async () => {
  const { trial, told } = await begun()
  const sent = await trial.post(
    '/api/sessions/s1/messages',
    { text: `the word is ${WORD}`, mode: 'urgent' },
    { ...KNOWN, 'Content-Type': 'application/json' },
  )
  expect(sent.status).toBeLessThan(300)
  const batch = { tool_calls: [] }
  expect(await told('PostToolBatch', batch)).not.toContain(WORD)
  expect(await told('PostToolBatch', batch, KNOWN)).toContain(WORD)
})

it('a level that was crossed is told to anybody: it holds figures', async () => {
  const { trial, transcript, told } = await begun()
  const full = statusLine('s1', 125_008, 1000, { transcript_path: transcript })
  await trial.post('/signals/claude-code/status-line', full)
  expect(await told('PostToolBatch', { tool_calls: [] })).toContain('[baton]')
})
