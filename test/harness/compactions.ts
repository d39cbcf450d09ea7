import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { Event } from '../../src/contract/records/event.js'
import { countOccurrences } from '../../src/model/log.js'
import type { Home } from './home.js'
import { startPrint } from './run-print.js'
import { mainRequests, type Stage } from './stage.js'
import { PATIENCE_MS, until } from './wait.js'

/** Beginnings of the two recovery messages that Baton sends after a compaction. */
export { FIRST_RECOVERY as FIRST, SECOND_RECOVERY as SECOND } from '../../src/compaction/recovery.js'

export interface Archive {
  archive_id: string
  session_id: string
  trigger: string
  bytes: number
  status: string
}

export async function archivesOf(it: Stage): Promise<Archive[]> {
  return (await it.ask<{ archives: Archive[] }>('archive', 'list')).archives
}

/** Returns all archives once no process is writing one. */
export function settledArchives(it: Stage): Promise<Archive[]> {
  return until('the archives are settled', async () => {
    const archives = await archivesOf(it)
    return archives.every(({ status }) => status !== 'pending') ? archives : null
  })
}

/** Checks that an archive holds exactly the transcript as it was before the compaction. */
export async function expectWhole(it: Stage, archive: Archive, transcript: string | Buffer): Promise<string> {
  expect(archive.status).toBe('kept')
  const to = path.join(it.home.dir, `${archive.archive_id}.jsonl`)
  await it.ask('archive', 'restore', archive.archive_id, '--to', to)
  const restored = readFileSync(to)
  expect(restored.length).toBe(archive.bytes)
  const now = typeof transcript === 'string' ? Buffer.from(transcript) : transcript
  expect(now.subarray(0, archive.bytes).equals(restored)).toBe(true)
  return restored.toString()
}

export interface Pair {
  outcome: string
  [field: string]: unknown
}

/** Checks that compactions start and end in alternation, and returns the outcome of each. */
export async function pairsOf(it: Stage, session?: string): Promise<Pair[]> {
  const events = (await it.events(undefined, session)).filter(({ type }) => /^compaction_/.test(type))
  expect(events.map(({ type }) => type)).toEqual(
    events.map((_, index) => (index % 2 === 0 ? 'compaction_start' : 'compaction_complete')),
  )
  const ends = events.filter((_, index) => index % 2 === 1)
  for (const [index, end] of ends.entries()) expect(end.data.triggerReason).toBe(events[index * 2]!.data.triggerReason)
  return ends.map(({ data }) => data as Pair)
}

/** Returns the client's own figures of each compaction, read from its transcript. */
export function boundaries(
  transcript: string,
): { trigger: string; preTokens: number; postTokens: number; durationMs: number }[] {
  return transcript
    .split('\n')
    .filter((line) => line.includes('"compact_boundary"'))
    .map((line) => (JSON.parse(line) as { compactMetadata: never }).compactMetadata)
}

/** Counts how often each request after a compaction contains the text. */
export function counts(it: Stage, words: string, cycle = 1): number[] {
  return mainRequests(it.model)
    .filter((entry) => entry.cycle === cycle)
    .map((entry) => countOccurrences(entry, words))
}

export function order(events: Event[], ...types: string[]): string[] {
  return events.map(({ type }) => type).filter((type) => types.includes(type))
}

/** Adds a hook of the user's own beside Baton's hooks. */
export function addHook(home: Home, event: string, script: string): void {
  const file = path.join(home.dir, `own-${event}.sh`)
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  const { hooks = {} } = home.readSettings() as { hooks?: Record<string, unknown[]> }
  home.settings({
    hooks: { ...hooks, [event]: [...(hooks[event] ?? []), { hooks: [{ type: 'command', command: file }] }] },
  })
}

/**
 * Starts Baton's PreCompact hook only when the transcript holds this many tool results and this
 * text. Claude Code 2.1.325 writes its transcript up to a tenth of a second late, and Baton waits
 * for it only for a bounded time, which a busy machine can exceed.
 */
export function holdUntilWritten(home: Home, { results, text }: { results: number; text: string }): void {
  const settings = home.readSettings() as {
    hooks: Record<string, { hooks: { command: string; timeout?: number }[] }[]>
  }
  // Baton's command replaces the shell, so that the client stays its parent.
  const wait = [
    'payload=$(mktemp)',
    'cat > "$payload"',
    `transcript=$(sed -n 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/p' "$payload")`,
    `until [ "$(grep -c '"type":"tool_result"' "$transcript")" -ge ${results} ] && grep -qF '${text}' ` +
      '"$transcript"; do sleep 0.02; done',
    'exec < "$payload"',
    'rm "$payload"',
  ].join('; ')
  for (const { hooks } of settings.hooks.PreCompact!)
    for (const hook of hooks) {
      hook.command = `${wait}; ${hook.command}`
      hook.timeout = PATIENCE_MS / 1_000
    }
  home.settings({ hooks: settings.hooks })
}

/** Starts the client with `-p` and sends it one prompt per turn over its open stdin. */
export function dialogue(home: Home, model: string) {
  const run = startPrint(home, { model, stdin: 'open' })
  let turns = 0
  return {
    run,
    async say(content: string): Promise<void> {
      turns++
      run.send({ type: 'user', message: { role: 'user', content } })
      await until(`turn ${turns} ends`, () => run.messages.filter((m) => m.type === 'result').length >= turns)
    },
    async end() {
      run.endInput()
      return run.done
    },
  }
}
