import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { countOccurrences, type LogEntry, visibleTexts } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { type Detail, levelMark, mainRequests, type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

export const MODEL = 'claude-opus-4-6'
export const FREE = 'guards: {min_new_tokens: 0, max_unattended_per_hour: 20, cooldown_seconds: 0}\n'
const PROMPT = 'Work through the list and note each item in done.txt. Never change the file prices.csv.'
const SENT = 'the list has grown by one item'

/** A fact that only the agent of session `n` knows. */
const reason = (n: number): string => `because of reason number ${n}`

export function briefOf(n: number): string {
  return `# Handoff brief

## Goal and why
Note every item of the list in done.txt, ${reason(n)}.

## State
Item ${n} is noted in done.txt.

## Next exact step
Note item ${n + 1} in done.txt.

## Constraints from the user
Never change the file prices.csv.

## Last user request
> ${PROMPT}
`
}

/**
 * Script of session `n`: note its item, climb to the handoff level, give the brief. The last only
 * works.
 */
const climb = (n: number) => [
  { bash: `echo item-${n} >> done.txt`, used: 60_008 },
  { bash: 'ls', used: 150_008 },
  { bash: 'ls', used: 151_008 },
  { text: briefOf(n), used: 152_008, hold: `brief ${n}` },
]

const SCRIPT: ScriptInput = {
  steps: climb(1),
  conversations: [
    { when: 'from brief 1', steps: climb(2) },
    { when: 'from brief 2', steps: climb(3) },
    {
      when: 'from brief 3',
      steps: [
        { bash: 'echo item-4 >> done.txt', used: 21_008 },
        { text: 'The list is done.', used: 22_008 },
      ],
    },
  ],
}

type Brief = { brief_id: string; parent_brief_id: string | null; sequence: number; status: string; session_id: string }
type Chain = Omit<Detail, 'chain'> & {
  briefs: (Brief & { used_by_session_id: string; path: string })[]
  chain: { session_id: string; handoffs: number }[]
}

/** Runs three consecutive handoffs and sends a message during the second. */
export async function threeInARow(): Promise<void> {
  const it = await stage(SCRIPT, {
    config: `handoff: {bar: 0.3}\n${FREE}`,
    env: { BATON_SEAT: 'shop' },
  })
  const tui = await startTui(it.home, { model: MODEL })
  for (const n of [1, 3]) it.model.release(`brief ${n}`)
  await tui.submit(PROMPT)
  await until('the second brief is being written', () => forBrief(it, 1).length === 4)
  await it.json('send', 'shop', SENT, '--mode', 'important')
  it.model.release('brief 2')
  await tui.waitFor(/The list is done/)
  await until('all three are over', async () => (await it.events('handoff_completed')).length === 3)

  const seat = await it.ask<Chain>('show', 'shop')
  const sessions = seat.chain.map(({ session_id: id }) => id)
  expect(new Set(sessions).size).toBe(4)
  expect(sessions.at(-1)).toBe(tui.sessionId())
  expect(seat).toMatchObject({ session_id: sessions[3], handoffs: 3, last_handoff_path: seat.briefs[2]!.path })
  expect(seat.chain.map(({ handoffs }) => handoffs)).toEqual([0, 1, 2, 3])
  expect(seat.briefs.map(({ sequence, status }) => [sequence, status])).toEqual([1, 2, 3].map((n) => [n, 'used']))
  const ids = seat.briefs.map(({ brief_id: id }) => id)
  expect(seat.briefs.map(({ parent_brief_id: parent }) => parent)).toEqual([null, ids[0], ids[1]])
  expect(seat.briefs.map(({ session_id: id }) => id)).toEqual(sessions.slice(0, 3))
  expect(seat.briefs.map(({ used_by_session_id: id }) => id)).toEqual(sessions.slice(1))
  const done = (await it.events('handoff_completed')).map(({ data }) => [
    data.handoffNumber,
    data.way,
    data.newSessionId,
  ])
  expect(done).toEqual([1, 2, 3].map((n) => [n, 'mod', sessions[n]]))
  expect(readFileSync(path.join(it.home.project, 'done.txt'), 'utf8')).toBe('item-1\nitem-2\nitem-3\nitem-4\n')

  for (const [n, session] of sessions.entries()) {
    const requests = mainRequests(it.model, session)
    if (n > 0) beganWith(requests[0]!, n)
    onlyItsOwn(requests, n < 3)
  }
  const heard = sessions.map((session) => mainRequests(it.model, session).map((entry) => countOccurrences(entry, SENT)))
  expect([heard[0], heard[1], heard[3]].flat().every((count) => count === 0)).toBe(true)
  expect(heard[2]![0]).toBe(0)
  expect(heard[2]!.at(-1)).toBe(1)
  await followed(it, sessions, ids)
}

/** Returns the requests of the session that began with brief `n`. */
function forBrief(it: Stage, n: number): LogEntry[] {
  return mainRequests(it.model).filter((entry) =>
    visibleTexts(entry).some((text) => text.includes(`from brief ${n}, which`)),
  )
}

/** Beginning of the request for a brief. */
const BRIEF_REQUEST = '[baton] A handoff brief '

/** Checks that a session begins with the previous brief and the prompt, and no other history. */
function beganWith(first: LogEntry, n: number): void {
  const texts = visibleTexts(first).join('\n')
  expect(texts).toContain(reason(n))
  expect(texts).toContain(`[baton] Continue the work of seat shop from brief ${n}`)
  for (const old of ['Context level', BRIEF_REQUEST, ...[1, 2, 3].filter((k) => k !== n).map(reason)])
    expect(texts).not.toContain(old)
}

/** Checks that a session is warned once per level and asked once for its brief. */
function onlyItsOwn(requests: LogEntry[], climbs: boolean): void {
  for (const mark of [levelMark('handoff'), BRIEF_REQUEST])
    expect(Math.max(...requests.map((entry) => countOccurrences(entry, mark)))).toBe(climbs ? 1 : 0)
}

/** Checks that commands of the user list every session and brief of the chain. */
async function followed(it: Stage, sessions: string[], briefs: string[]): Promise<void> {
  const listed = (await it.sessions()).map(({ session_id: id, state }) => [id, state === 'ended'])
  expect(listed).toEqual([[sessions[3], false], ...[...sessions.slice(0, 3)].reverse().map((id) => [id, true])])
  const page = (await it.baton('show', 'shop')).stdout
  for (const id of sessions) expect(page).toContain(id.slice(0, 8))
  for (const [i, id] of briefs.entries()) {
    const shown = await it.ask<{ verdict: string; path: string; text: string }>('handoffs', 'show', id)
    expect(shown.verdict).toBe('genuine')
    expect(shown.text).toContain(reason(i + 1))
    expect(existsSync(shown.path)).toBe(true)
  }
}
