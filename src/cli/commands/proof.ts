import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { writeFileAtomic } from '../../lib/atomic-file.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { formatCount } from '../../lib/format-count.js'
import { batonHome } from '../../lib/home.js'
import { judgeHome } from '../../lib/home-safety.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import { stopOnSignals } from '../../lib/stop-signals.js'
import { drawReplay } from '../../proof/draw-replay.js'
import { reportPlanted } from '../../proof/planted-report.js'
import { type ReplayReport, reportReplay } from '../../proof/replay-report.js'
import { runPlanted } from '../../proof/run-planted.js'
import { type Replay, runReplay } from '../../proof/run-replay.js'
import type { Call, Cli, Command } from '../command.js'
import { terminalLine, terminalProgress } from '../open-archives.js'
import { plantedLines, replayLines } from '../render/proof-lines.js'
import { wrap } from '../render/text.js'
import { untilStopped } from '../terminal.js'

export const proofCommand: Command = {
  name: 'proof',
  summary: 'measure on your own transcripts what compactions lose, and what Baton keeps',
  usage: ['[--transcripts DIR] [--days N] [--svg FILE]', '--planted [--generations N] [--replicates N]'],
  about:
    'Replays every compaction in the transcripts of your agents and compares four texts: the summary of the client ' +
    "with the messages it kept, the same with Baton's recovery, Baton's brief, and the last messages up to the " +
    'size of the brief.\n' +
    'The figure that counts is the needed tokens: paths, numbers and identifiers of 8 or more characters that only ' +
    'the time before the compaction had introduced, and that the agent used within 40 calls after it.\n' +
    'Needs no key and no network, and changes no transcript. Ctrl-C stops it, and running it again continues.\n' +
    'With --planted, the real client runs with a scripted model through handoffs and compactions in a row. A ' +
    'scripted reader breaks a rule, reverses a decision, repeats a step or drops a task exactly if the sentence is ' +
    'missing in the request it received. This proves delivery, not that a real model obeys.',
  options: {
    transcripts: { type: 'string', value: 'DIR', about: "read the transcripts in DIR instead of your agents' own" },
    days: { type: 'string', value: 'N', about: 'only compactions of the last N days' },
    planted: { type: 'boolean', about: 'drive the real client with planted facts instead' },
    generations: { type: 'string', value: 'N', about: 'with --planted: handoffs in a row, 1 to 8 (default: 8)' },
    replicates: { type: 'string', value: 'N', about: 'with --planted: runs with other sentences (default: 3)' },
    svg: { type: 'string', value: 'FILE', about: 'also draw the result as a picture' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton proof', 'measure all your compactions'],
    ['baton proof --days 30 --svg proof.svg', 'those of the last month, with a picture'],
    ['baton proof --planted', 'prove that rules arrive over 8 handoffs and 8 compactions (takes minutes)'],
    ['baton proof --transcripts ./exported --json', 'measure a folder of transcripts, for a script'],
  ],
  json:
    '{compactions, transcripts, left, without_summary, unreadable: [{path, reason}], calls_after, ' +
    'arms: [{name, characters, needed: {kept, of}, facts: {kind: {kept, of}}, rereads, reruns, avoidable}], ' +
    'intervals: {method, level, seed, replicates, needed: {arm: [low, high]}, against_summary}, verdict}; ' +
    'left: transcripts not read because it was stopped; characters: the mean length; rereads and reruns: null for ' +
    'arms that did not happen. With --planted: {planted, ok, generations, replicates, seed, compactions, handoffs, ' +
    'arms: [{…, by_generation: [{generation, kept, of}]}], skipped: [{arm, reason}], hostile: {requests, repeated}, ' +
    'mismatches, intervals, verdict}',
  run,
}

/** Fixed, so that the same sentences are planted in every run. */
const PLANTED_SEED = 8_420

async function run(call: Call, cli: Cli): Promise<number> {
  checkOptions(call)
  if (call.flag('planted')) return runWithPlanted(call, cli)
  const folder = folderOf(call.value('transcripts'), cli)
  const days = daysOf(call.value('days'))
  const svg = call.value('svg')
  const home = batonHome(cli.env)
  const unsafe = judgeHome(home)
  if (unsafe !== null) throw unsafe
  const progress = terminalProgress(process.stderr, !call.json)
  const stop = stopOnSignals()
  const replay = await runReplay({
    env: cli.env,
    folder,
    days,
    now: cli.now(),
    cache: home.facts,
    onTranscript: (bytes) => progress.add('replaying transcripts:', bytes),
    isStopped: stop.isAsked,
  }).finally(() => {
    stop.release()
    progress.end()
  })
  const report = reportReplay(replay.compactions)
  const nothing = nothingText(replay, { folder, days })
  if (svg !== null && nothing === null) writePicture(resolve(cli.cwd, svg), report)
  show(call, cli, replay, nothing === null ? report : { ...report, verdict: nothing })
  for (const { path, reason } of replay.unreadable)
    cli.note(replaceControls(`${displayPath(path, cli.env.HOME)} was not read: ${reason}`))
  if (replay.left > 0) return EXIT.failed
  if (nothing === null) return EXIT.done
  return replay.unreadable.length > 0 && replay.unreadable.length >= replay.transcripts ? EXIT.failed : EXIT.notFound
}

/** Refuses options that would have no effect. */
function checkOptions(call: Call): void {
  const planted = call.flag('planted')
  const useless = planted ? ['transcripts', 'days', 'svg'] : ['generations', 'replicates']
  const given = useless.find((name) => call.value(name) !== null)
  if (given === undefined) return
  throw new BatonError(
    `--${given} has no effect ${planted ? 'with' : 'without'} --planted.`,
    planted ? 'Leave one of them out.' : 'Add --planted.',
    EXIT.usage,
  )
}

async function runWithPlanted(call: Call, cli: Cli): Promise<number> {
  const generations = countOf(call, 'generations', 8, 8)
  const replicates = countOf(call, 'replicates', 3, 20)
  const progress = terminalLine(process.stderr, !call.json)
  const stopped = untilStopped()
  // Ignore the second SIGHUP of a closed terminal, so that the client's folder is still deleted.
  process.on('SIGHUP', () => {})
  const result = await runPlanted(cli, {
    generations,
    replicates,
    seed: PLANTED_SEED,
    stopped,
    onRun: (arm, replicate) => progress.show(`${arm}, replicate ${replicate} of ${replicates} …`),
  }).finally(() => progress.end())
  const report = reportPlanted(result, { generations, replicates, seed: PLANTED_SEED })
  cli.print(call.json ? JSON.stringify(report) : plantedLines(report, cli.screen).join('\n'))
  return report.ok ? EXIT.done : EXIT.failed
}

function countOf(call: Call, name: string, usual: number, most: number): number {
  const written = call.value(name)
  if (written === null) return usual
  const count = Number(written)
  if (/^\d+$/.test(written) && count >= 1 && count <= most) return count
  throw new BatonError(`--${name} cannot be "${written}".`, `Give a whole number from 1 to ${most}.`, EXIT.usage)
}

function show(call: Call, cli: Cli, replay: Replay, report: ReplayReport): void {
  const { transcripts, left, withoutSummary, unreadable } = replay
  if (call.json) {
    const { compactions, ...rest } = report
    cli.print(JSON.stringify({ compactions, transcripts, left, without_summary: withoutSummary, unreadable, ...rest }))
    return
  }
  const lines = report.compactions === 0 ? wrap(report.verdict, cli.screen.columns, 0) : replayLines(report, cli.screen)
  const notes = [
    withoutSummary === 0
      ? []
      : [`${formatCount(withoutSummary, 'compaction')} without a summary in the transcript: not replayed.`],
    left === 0 ? [] : [`Stopped with ${formatCount(left, 'transcript')} left. baton proof continues.`],
  ].flat()
  cli.print([...lines, ...notes.flatMap((note) => wrap(note, cli.screen.columns, 0))].join('\n'))
}

/** Says why there is nothing to compare. Null when there is something. */
function nothingText(replay: Replay, { folder, days }: { folder: string | null; days: number | null }): string | null {
  const { transcripts, compactions, unreadable, left } = replay
  if (compactions.length > 0) return null
  const where = folder === null ? 'of your agents' : `in ${folder}`
  const when = days === null ? '' : ` of the last ${formatCount(days, 'day')}`
  if (left > 0) return 'Stopped before a compaction was found.'
  if (transcripts === 0 && unreadable.length > 0)
    return `None of ${formatCount(unreadable.length, 'transcript')} ${where} could be read.`
  if (transcripts === 0)
    return `No transcripts ${where}${when} were found.${folder === null ? ' --transcripts DIR reads a folder.' : ''}`
  return `No compaction${when} was found in ${formatCount(transcripts, 'transcript')} ${where}: nothing to compare.`
}

function writePicture(path: string, report: ReplayReport): void {
  try {
    writeFileAtomic(path, drawReplay(report), { mode: 0o644 })
  } catch (error) {
    throw new BatonError(`The picture ${path} was not written: ${reasonOf(error)}.`, 'Give another file with --svg.')
  }
}

function daysOf(written: string | null): number | null {
  if (written === null) return null
  const days = Number(written)
  if (/^\d+$/.test(written) && days >= 1) return days
  throw new BatonError(`--days cannot be "${written}".`, 'Give a whole number of days, such as 30.', EXIT.usage)
}

function folderOf(given: string | null, cli: Cli): string | null {
  if (given === null) return null
  const folder = resolve(cli.cwd, given)
  if (existsSync(folder) && statSync(folder).isDirectory()) return folder
  throw new BatonError(
    `There is no folder ${folder}.`,
    'Give the folder that contains the transcripts: baton proof --transcripts DIR.',
    EXIT.notFound,
  )
}
