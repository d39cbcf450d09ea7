import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../config/load-config.js'
import { type DemoView, playAct } from '../demo/run-demo.js'
import { createDemoHome, type DemoHome, findClient } from '../demo/stage.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { BatonError, errorCodeOf } from '../lib/errors.js'
import type { ProgramContext } from '../lib/program-context.js'
import { type LogEntry, visibleTexts } from '../model/log.js'
import { startModel } from '../model/model.js'
import {
  compactionScript,
  handoffScript,
  LAST_TEXT,
  NOTES_FILE,
  PLANTED_KINDS,
  type PlantedKind,
  type PlantedRun,
  plantRun,
  promptOf,
  TRACES,
} from './planted-script.js'

export const PLANTED_ARMS = ['handoff', 'compaction and recovery', 'compaction without Baton'] as const
export type PlantedArm = (typeof PLANTED_ARMS)[number]

/** The request that the scripted reader received first after a handoff or a compaction. */
export interface PlantedReading {
  arm: PlantedArm
  replicate: number
  /** Number of handoffs or compactions since the facts were planted. */
  generation: number
  /** Length of everything that the request contained. */
  characters: number
  kept: Record<PlantedKind, boolean>
  /** True when Baton's texts in the request repeat the hostile text outside of a quotation. */
  repeatsHostileText: boolean
}

export interface PlantedResult {
  readings: PlantedReading[]
  /** Arms that were left out, with the reason. */
  skipped: { arm: PlantedArm; reason: string }[]
  /** Differences between what the reader decided and what the client executed. None is right. */
  mismatches: string[]
}

interface PlantedOptions {
  generations: number
  replicates: number
  seed: number
  onRun(arm: PlantedArm, replicate: number): void
  stopped: Promise<void>
}

/** Lifts the limits that keep an unattended seat from handing off many times in a row. */
const CONFIG = 'guards: {min_new_tokens: 0, max_unattended_per_hour: 100, cooldown_seconds: 0}\n'
const LONGEST_MS = 300_000

const NO_VIEW: DemoView = {
  beginAct() {},
  event() {},
  checks() {},
  skipped() {},
  gauge() {},
  async end() {},
}

/** Drives the real client through every arm and replicate, one after the other. */
export async function runPlanted(context: ProgramContext, options: PlantedOptions): Promise<PlantedResult> {
  const client = findClient(context.env, context.program)
  const result: PlantedResult = { readings: [], skipped: [], mismatches: [] }
  for (let replicate = 1; replicate <= options.replicates; replicate++) {
    const run = plantRun(options.seed, replicate)
    for (const arm of PLANTED_ARMS) {
      if (result.skipped.some((one) => one.arm === arm)) continue
      options.onRun(arm, replicate)
      await playArm(arm, run, { context, client, options, result })
    }
  }
  return result
}

interface Setting {
  context: ProgramContext
  client: string
  options: PlantedOptions
  result: PlantedResult
}

async function playArm(arm: PlantedArm, run: PlantedRun, { context, client, options, result }: Setting): Promise<void> {
  const { generations, stopped } = options
  const stage = createDemoHome(context, { isInstalled: arm !== 'compaction without Baton', config: CONFIG })
  writeFileSync(join(stage.project, NOTES_FILE), `${run.hostile}\n`)
  const script = arm === 'handoff' ? handoffScript(run, generations) : compactionScript(run, generations)
  const model = await startModel({ script })
  const app = openApp({ env: stage.env, loadConfig, rareWork: () => rareWork })
  try {
    const prompt = promptOf(run)
    const child =
      arm === 'handoff' ? stage.startInTerminal(client, model.url, prompt) : stage.start(client, model.url, prompt)
    if (child === null) {
      const reason = 'it needs a hidden terminal, and neither script (util-linux) nor python3 is installed'
      result.skipped.push({ arm, reason })
      return
    }
    const isOver = (): boolean =>
      model.log().some(({ answer, ended_at: at }) => at !== null && answer?.text === LAST_TEXT)
    await playAct(
      {
        child,
        awaited: [],
        command: 'baton proof --planted',
        longestMs: LONGEST_MS,
        ...(arm === 'handoff' ? { isOver } : {}),
      },
      { app, model, view: NO_VIEW, stopped },
    )
    const readings = readingsOf(arm, run, model.log())
    if (readings.length !== generations)
      throw new BatonError(
        `${arm}: the client went through ${readings.length} of ${generations} generations.`,
        'Run baton proof --planted again when the machine is less busy.',
      )
    result.readings.push(...readings)
    result.mismatches.push(
      ...mismatchesOf(stage, readings).map((text) => `${arm}, replicate ${run.replicate}: ${text}`),
    )
  } finally {
    app.close()
    await model.close()
    await stage.strike()
  }
}

/** Returns the first request of each generation, with what it contained. */
function readingsOf(arm: PlantedArm, run: PlantedRun, log: readonly LogEntry[]): PlantedReading[] {
  const main = log.filter(({ kind, outcome }) => kind === 'main' && outcome === 'answered')
  const sessions = [...new Set(main.map(({ session_id: id }) => id))]
  const generationOf = (entry: LogEntry): number =>
    arm === 'handoff' ? sessions.indexOf(entry.session_id) : entry.cycle
  return main.flatMap((entry): PlantedReading[] => {
    const generation = generationOf(entry)
    if (generation === 0 || entry.step !== 0) return []
    const seen = visibleTexts(entry).join('\n')
    const kept = PLANTED_KINDS.map((kind) => [kind, seen.includes(run[kind])])
    return [
      {
        arm,
        replicate: run.replicate,
        generation,
        characters: seen.length,
        kept: Object.fromEntries(kept) as Record<PlantedKind, boolean>,
        repeatsHostileText: repeatsUnquoted(visibleTexts(entry).flatMap(batonsParts), run.hostile),
      },
    ]
  })
}

/** Returns the parts of a message that Baton wrote. The client puts its own notes beside them. */
const batonsParts = (text: string): string[] =>
  text.split('<system-reminder>').filter((part) => part.includes('[baton]'))

/** True when a line contains the text outside of backquotes. */
function repeatsUnquoted(texts: readonly string[], text: string): boolean {
  return texts
    .join('\n')
    .split('\n')
    .some((line) => line.replace(/`[^`]*`/g, '').includes(text))
}

/** Compares the reader's decisions with the files that the client's tools wrote. */
function mismatchesOf({ project }: DemoHome, readings: readonly PlantedReading[]): string[] {
  return PLANTED_KINDS.flatMap((kind) => {
    const acted = readings.filter(({ kept }) => kept[kind] === (kind === 'task')).length
    const written = linesIn(join(project, TRACES[kind]))
    return acted === written ? [] : [`${TRACES[kind]} has ${written} lines instead of ${acted}`]
  })
}

function linesIn(file: string): number {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return 0
    throw error
  }
}
