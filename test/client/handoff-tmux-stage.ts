import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { HandoffRecord } from '../../src/contract/records/handoff.js'
import type { LogEntry } from '../../src/model/log.js'
import { visibleTexts } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { commandLine, withEnvironment } from '../harness/processes.js'
import { mainRequests, type Stage, type StageOptions, stage } from '../harness/stage.js'
import { startTui, type Tui, type TuiOptions } from '../harness/tui.js'
import { until } from '../harness/wait.js'

export const MODEL = 'claude-opus-4-6'
export const PROMPT = 'Work through the list and note each item. Never change the file prices.csv.'
export const CONTINUE = '[baton] Continue the work'
export const BRIEF = `# Handoff brief

## Goal and why
Note every item of the list, because the shop opens on Monday.

## State
Items 1 and 2 are noted; README.md was read.

## Next exact step
Note item 3.

## Constraints
Never change the file prices.csv.

## Last user request
> Work through the list and note each item. Never change the file prices.csv.
`

/** Steps that reach the handoff level with reads only, which need no permission. */
export const CLIMB = [
  { read: 'README.md', used: 60_008 },
  { read: 'README.md', used: 150_008 },
  { read: 'README.md', used: 151_008 },
]
export const FRESH = { when: 'Continue the work', steps: [{ text: 'Item 3 is noted.', used: 21_008 }] }

export interface TmuxStage extends Stage {
  tui: Tui
  old: string
  handoffs(): HandoffRecord[]
  handoff(): HandoffRecord
  /** Requests with the prompt that tells a fresh session to continue. */
  continued(): LogEntry[]
  /** Number of sessions that the client began after /clear. */
  clears(): Promise<number>
  /** The driver's last logged reason not to type, e.g. `draft: …`. Null when it never refused. */
  refusal(): string | null
  /**
   * The reason why the plugin module delays its order, which it writes beside the order, e.g.
   * `draft`. Null when there was none yet.
   */
  hindrance(): string | null
  /**
   * Describes the handoffs, the end of Baton's log and the client's screen, for the message of a
   * failed wait.
   */
  diagnosis(): Promise<string>
  /** Waits until no driver process runs, so that no further key can follow. */
  driverEnded(): Promise<void>
}

/** Starts a client in tmux with Baton installed, by default without the plugin module. */
export async function tmuxStage(
  script: ScriptInput,
  options: StageOptions = {},
  tui: TuiOptions = {},
): Promise<TmuxStage> {
  const it = await stage(script, {
    mod: false,
    config: 'handoff: { bar: 0.3 }\n',
    ...options,
    env: { BATON_LOG: 'debug', ...options.env },
  })
  const screen = await startTui(it.home, { model: MODEL, ...tui })
  const handoffs = (): HandoffRecord[] => {
    const store = openStore(path.join(it.home.batonHome, 'baton.db'))
    try {
      return store.handoffs()
    } finally {
      store.close()
    }
  }
  const handoff = (): HandoffRecord => {
    const all = handoffs()
    if (all.length !== 1) throw new Error(`${all.length} handoffs: ${JSON.stringify(all)}`)
    return all[0]!
  }
  const old = screen.sessionId()!
  return {
    ...it,
    tui: screen,
    old,
    handoffs,
    handoff,
    // Each request holds the whole conversation; its last message is the prompt it answers.
    continued: () => mainRequests(it.model).filter((entry) => visibleTexts(entry).at(-1)?.startsWith(CONTINUE)),
    clears: async () => (await it.events('session_started')).filter(({ data }) => data.source === 'clear').length,
    refusal: () =>
      logged(path.join(it.home.batonHome, 'baton.log')).findLast(({ text }) => text === 'not typed')?.reason ?? null,
    hindrance: () => {
      const seen = path.join(it.home.batonHome, 'live', `${old}.${handoff().orderId}.seen.json`)
      return existsSync(seen) ? (/"by":"(\w+)"/.exec(readFileSync(seen, 'utf8'))?.[1] ?? null) : null
    },
    diagnosis: async () => {
      const log = path.join(it.home.batonHome, 'baton.log')
      const logged = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(-15).join('\n') : ''
      return `${JSON.stringify(handoffs())}\n${logged}\n${await screen.screen()}`
    },
    driverEnded: async () => {
      const drivers = (): number[] =>
        withEnvironment(`HOME=${it.home.home}`).filter((pid) => /hook-engine\S*\0drive\0/.test(commandLine(pid)))
      await until('no process types any more', () => drivers().length === 0)
    },
  }
}

/** Returns the complete lines of a log that another process may be writing. */
function logged(file: string): { text: string; reason: string }[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  return lines.map((line) => JSON.parse(line))
}

/** Waits until the handoff is in one of these states. */
export function inState(it: TmuxStage, ...states: HandoffRecord['state'][]): Promise<HandoffRecord> {
  let last: HandoffRecord | undefined
  return until(
    () => `the handoff is ${states.join(' or ')}: ${JSON.stringify(last)}`,
    () => {
      last = it.handoffs().at(-1)
      return last && states.includes(last.state) ? last : null
    },
    { every: 50 },
  )
}
