import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { callingSession } from '../../agents/clients.js'
import { withOpenApp } from '../../app/open-app.js'
import { projectOf, sessionNamed } from '../../app/sessions.js'
import { checkText } from '../../config/check-settings.js'
import type { Note } from '../../config/compiled.js'
import { CONFIG_TEMPLATE } from '../../config/config-template.js'
import { loadConfig } from '../../config/load-config.js'
import { DEFAULT_AGENT } from '../../contract/agent-ids.js'
import type { Settings } from '../../contract/api/settings.js'
import { asksForHandoff, type ResolvedLevel } from '../../contract/level.js'
import type { ConfigProblem, Policy } from '../../contract/policy.js'
import type { Limits } from '../../contract/reading.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { App } from '../../engine/open-engine.js'
import { explainSettings, NO_SESSION } from '../../engine/views/explain-settings.js'
import { FileChanged, readIfThere, writeFileAtomic } from '../../lib/atomic-file.js'
import { formatCount } from '../../lib/counted.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { replaceControls, shortenHome } from '../../lib/shown-text.js'
import { type KeyPath, parseYamlValue, setYamlValue } from '../../lib/yaml-file.js'
import { resolveLevels } from '../../policy/levels.js'
import { grouped } from '../../policy/numbers.js'
import type { Call, Cli, Command } from '../command.js'
import { checkForm } from '../parse-call.js'
import type { Screen } from '../render/screen.js'
import { type Column, table } from '../render/table.js'
import { bytesText, wrap } from '../render/text.js'
import { openEditor } from '../terminal.js'

const ACTIONS = ['check', 'explain', 'init', 'set', 'edit'] as const
type Action = (typeof ACTIONS)[number]

/** The actions: what each does, and how many words may follow it. */
const FORMS: Record<Action, { does: string; least: number; most: number; options: readonly string[] }> = {
  check: { does: 'name everything that is wrong in the files that apply here', least: 0, most: 0, options: [] },
  explain: { does: 'tell which levels apply to a session, and who wrote them', least: 0, most: 1, options: [] },
  init: { does: 'write a file of your own with every key commented out', least: 0, most: 0, options: [] },
  set: { does: 'set one key of your own file', least: 2, most: 2, options: [] },
  edit: { does: 'open your own file in $VISUAL or $EDITOR', least: 0, most: 0, options: [] },
}

export const command: Command = {
  name: 'config',
  summary: 'check, explain and change the configuration',
  usage: ['check', 'explain [session]', 'init', 'set <key> <value>', 'edit'],
  about:
    'check reads the user file and the project file of this folder and names everything that is wrong; it ends with 2 then. ' +
    'explain tells where each level stands, which rule put it there and where that rule is written. Without a session: the one this ' +
    'command runs in, else the newest of this project, else only the rules. init, set and edit change the user file only. It is checked as ' +
    'a whole before it is written; a wrong one is refused with 2, and the old one stays. set keeps comments and order; a value is written as in the file.',
  options: {},
  actions: ACTIONS,
  forms: FORMS,
  words: { min: 1, max: 3 },
  examples: [
    ['baton config check', 'is everything right?'],
    ['baton config explain', 'what applies here, and why'],
    ['baton config explain d76d6c4d --json', 'the levels of one session for a script'],
    ['baton config init', 'begin a file of your own'],
    ['baton config set handoff.mode ask', 'one key'],
    ["baton config set 'levels[0].at' '70% of window'", 'in a list, counted from 0'],
    ['baton config edit', 'in your editor'],
  ],
  json:
    'check: {ok, errors: [{key, file, reason, hint}], notes, files}; explain: {levels: [{name, at_tokens, rule, from, reachable, …}], …}; ' +
    'init: {file, created}; set: {file, key, value, changed}; edit: {file, changed}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const [action, ...words] = call.words as [Action, ...string[]]
  checkForm(command, call, action, FORMS[action])
  switch (action) {
    case 'check':
      return check(call, cli)
    case 'explain':
      return explain(call, cli, words[0] ?? null)
    case 'init':
      return init(call, cli)
    case 'set':
      return set(call, cli, words[0]!, words[1]!)
    case 'edit':
      return edit(call, cli)
  }
}

/** Everything wrong in the files that apply in this folder, and what is accepted but not yet acted on. */
function check(call: Call, cli: Cli): number {
  const loaded = loadConfig({ home: batonHome(cli.env), project: cli.cwd, env: cli.env })
  const files = loaded.files.map(({ path, exists }) => ({ path, exists }))
  if (call.json) cli.print(JSON.stringify({ ok: loaded.ok, errors: loaded.problems, notes: loaded.notes, files }))
  else cli.print(report(loaded.problems, loaded.notes, files, cli).join('\n'))
  return loaded.ok ? EXIT.done : EXIT.usage
}

function report(
  problems: ConfigProblem[],
  notes: Note[],
  files: { path: string; exists: boolean }[],
  cli: Cli,
): string[] {
  const { paint, columns } = cli.screen
  const place = (file: string, line?: number): string => `${shortenHome(file, cli.env.HOME)}${line ? `:${line}` : ''}`
  const read = files.filter((file) => file.exists)
  const head =
    problems.length > 0
      ? paint(
          `${problems.length === 1 ? 'One thing is' : `${problems.length} things are`} wrong; sessions go on with the last good configuration.`,
          'red',
        )
      : read.length > 0
        ? `The configuration is right (${read.map((file) => place(file.path)).join(', ')}).`
        : `There is no configuration file: the defaults apply. Yours would be ${place(files[0]!.path)}.`
  return [
    head,
    ...problems.flatMap(({ key, file, line, reason, hint }) => [
      '',
      `${paint(replaceControls(key === '' ? 'the whole file' : key), 'bold')}  ${paint(place(file, line), 'dim')}`,
      ...wrap(`  ${replaceControls(reason)}`, columns, 2),
      ...(hint === '' ? [] : wrap(`  ${replaceControls(hint)}`, columns, 2)),
    ]),
    ...(notes.length > 0
      ? [
          '',
          paint('Notes', 'bold'),
          ...notes.flatMap((note) => wrap(`  ${noteText(note, place(note.file))}`, columns, 4)),
        ]
      : []),
  ]
}

function noteText({ key, text }: Note, place: string): string {
  return replaceControls(key === '' ? `${place}: ${text}` : `${key} (${place}): ${text}`)
}

/** Which levels apply to a session, where they stand, and which line of which file says so. */
function explain(call: Call, cli: Cli, named: string | null): Promise<number> {
  return withOpenApp(cli, (app) => {
    const { record, because: subject } = subjectOf(app, cli, named)
    const project = record ? record.project : cli.cwd
    const switchedAs = record ? project : projectOf(app, cli.cwd).project
    const settings = explainSettings(app.engine.deps, { record, project, switchedAs })
    if (call.json) {
      cli.print(JSON.stringify(settings))
      return EXIT.done
    }
    const seat = record ? (app.store.seat(record.seatId)?.name ?? record.seatId) : null
    const { policy } = app.policyOf({
      agent: record?.agent ?? DEFAULT_AGENT,
      project,
      model: record?.model ?? null,
      seat,
    })
    const limits = record?.track.limits ?? NO_SESSION
    const { paint, columns } = cli.screen
    const off = settings.enabled ? '' : ': it measures and says nothing'
    const lines = [
      paint(subject, 'bold'),
      ...wrap(limitsLine(limits, record !== null), columns, 0),
      `Baton is ${settings.enabled ? 'on' : 'off'} (${because(settings)})${off}.`,
      ...(settings.errors.length > 0
        ? [paint('The files have errors, so the last good configuration is in force: baton config check.', 'red')]
        : []),
      ...untrustedLines(settings.project_file, cli),
      ...wrap(compactionText(policy), columns, 0),
      ...wrap(handoffText(policy.handoff), columns, 0),
      ...wrap(archiveText(policy.archive), columns, 0),
      '',
      ...levelTable(resolveLevels(policy.levels, limits), limits, cli.screen, policy.handoff.mode === 'off'),
    ]
    cli.print(lines.join('\n'))
    return EXIT.done
  })
}

/** Names the ignored keys of an untrusted project file, and how the user accepts it. */
function untrustedLines(file: Settings['project_file'], { screen, env }: Cli): string[] {
  if (file === null || file.trusted || file.ignored.length === 0) return []
  const head = `${shortenHome(file.path, env.HOME)} is not trusted (${file.reason}): of it only status_line and new levels that tell you and the agent apply. Ignored:`
  return [
    ...wrap(screen.paint(replaceControls(head), 'yellow'), screen.columns, 0),
    ...file.ignored.flatMap(({ key, reason }) =>
      wrap(`  ${replaceControls(key)}: ${replaceControls(reason)}`, screen.columns, 4),
    ),
    'To accept the file as it is: baton trust.',
  ]
}

const because = ({ enabled, enabled_by: by }: { enabled: boolean; enabled_by: string }): string =>
  by !== 'configuration' ? by : enabled ? 'nothing turns it off' : 'enabled: false in the configuration'

function compactionText({ compaction, mustSurvive }: Policy): string {
  const texts =
    mustSurvive.length === 0
      ? ''
      : `; must survive: ${mustSurvive.map((text) => `“${replaceControls(text)}”`).join(', ')}`
  if (compaction === 'allow')
    return `Compactions are left alone (compaction: allow)${texts === '' ? '' : `${texts}, which nobody is told`}.`
  const told = `hat must survive is told to the summariser (compaction: ${compaction})${texts}.`
  return compaction === 'instruct'
    ? `W${told}`
    : `A compaction is kept from coming about where a handoff can follow; elsewhere w${told}`
}

const MODES = {
  auto: 'The agent is asked for its brief and a fresh session goes on from it',
  ask: 'You are told when it is time for a handoff, and /handoff begins it',
  off: 'No level begins a handoff',
}

function handoffText({ mode, reviewSeconds }: Policy['handoff']): string {
  const review =
    reviewSeconds === 0
      ? 'without a review'
      : reviewSeconds === 'approval'
        ? 'once somebody approves it'
        : `${reviewSeconds} s after it is ready unless somebody objects`
  return `${MODES[mode]} (handoff.mode: ${mode}); a brief is used ${review} (handoff.review_seconds: ${reviewSeconds}).`
}

function archiveText({ enabled, at, keepDays, keepBytes }: Policy['archive']): string {
  if (!enabled) return 'Transcripts are not kept (archive.enabled: false).'
  const least = [
    ...(keepDays === null ? [] : [formatCount(keepDays, 'day')]),
    ...(keepBytes === null ? [] : [`at most ${bytesText(keepBytes)} in all`]),
  ]
  return `Transcripts are kept at ${at.join(', ')}: ${least.length === 0 ? 'until you prune or forget them' : least.join(', ')}.`
}

function subjectOf(app: App, cli: Cli, named: string | null): { record: SessionRecord | null; because: string } {
  const title = (record: SessionRecord, why: string): string =>
    `Session ${record.sessionId.slice(0, 8)}${why}: ${replaceControls(record.model ?? 'model not known')} in ${record.project === null ? '–' : shortenHome(record.project, cli.env.HOME)}`
  if (named !== null) {
    const record = sessionNamed(app, named)
    return { record, because: title(record, '') }
  }
  const called = callingSession(cli.env)
  const own = called ? app.store.session(called) : null
  if (own) return { record: own, because: title(own, ' (this one)') }
  const { spellings } = projectOf(app, cli.cwd)
  const here = app.store.sessions().filter(({ project }) => project !== null && spellings.includes(project))
  const newest = here.find((record) => app.view(record).state !== 'ended') ?? here[0]
  if (newest) return { record: newest, because: title(newest, ' (the newest here)') }
  return { record: null, because: `A new session in ${shortenHome(cli.cwd, cli.env.HOME)}` }
}

/** Actions that do nothing where `handoff.mode` is off are in brackets. */
function actionsText({ actions }: ResolvedLevel, handoffsAreOff: boolean): string {
  const shown = actions.map((action) =>
    handoffsAreOff && asksForHandoff({ actions: [action] }) ? `[${action}]` : action,
  )
  return replaceControls(shown.join(', ') || 'timeline only')
}

const columnsOf = (handoffsAreOff: boolean): Column<ResolvedLevel>[] => [
  { title: 'LEVEL', dropAt: 0, cell: (level) => replaceControls(level.name) },
  {
    title: 'AT',
    dropAt: 0,
    align: 'right',
    cell: (level) => (level.atTokens === null ? '–' : grouped(level.atTokens)),
  },
  { title: 'RULE', dropAt: 0, cell: (level) => replaceControls(level.rule) },
  { title: 'DOES', dropAt: 2, shrinkTo: 12, cell: (level) => actionsText(level, handoffsAreOff) },
  { title: 'TELLS', dropAt: 3, cell: (level) => (level.actions.length === 0 ? '' : level.mode) },
  { title: 'WRITTEN IN', dropAt: 1, shrinkTo: 16, cutFrom: 'start', cell: (level) => replaceControls(level.from) },
]

/** Where each level stands and who put it there; below it those that will never be reached. */
function levelTable(
  levels: readonly ResolvedLevel[],
  limits: Limits,
  { columns, paint }: Screen,
  handoffsAreOff = false,
): string[] {
  if (levels.length === 0) return ['There are no levels.']
  const beyond = levels.filter((level) => level.atTokens !== null && !level.reachable).map((level) => level.name)
  const end = limits.mode === 'off' ? 'refuses' : 'compacts'
  const sentence = `Unreachable, because the agent ${end} first (at ${grouped(limits.point ?? 0)}): ${replaceControls(beyond.join(', '))}.`
  return [
    ...table(levels, columnsOf(handoffsAreOff), columns, paint),
    ...(handoffsAreOff && levels.some(asksForHandoff)
      ? ['', ...wrap('In brackets: not in force, because handoff.mode is off.', columns, 2)]
      : []),
    ...(beyond.length === 0 ? [] : ['', ...wrap(sentence, columns, 2)]),
  ]
}

function limitsLine(limits: Limits, measured: boolean): string {
  if (limits.point === null) {
    return measured
      ? 'Its window is not known yet: levels in percent cannot be placed.'
      : 'No session was seen here: levels in percent get their place when one is measured.'
  }
  const end = limits.mode === 'off' ? 'Refusal point' : 'Compaction point'
  const window = limits.window === null ? '' : `, window ${grouped(limits.window)}`
  const reactive = limits.mode === 'reactive' ? '; compacts only when the API refuses' : ''
  return `${end} ${limits.exact ? '' : 'about '}${grouped(limits.point)}${window} (${replaceControls(limits.reason)}${reactive}).`
}

/** Writes the commented file of all keys, where there is none yet. */
function init(call: Call, cli: Cli): number {
  const { config: file } = batonHome(cli.env)
  if (readIfThere(file) !== null) throw exists(cli, file)
  put(cli, file, CONFIG_TEMPLATE, null)
  const next =
    'Every key in it is commented out: the defaults apply until you change something. baton config edit opens it.'
  if (call.json) cli.print(JSON.stringify({ file, created: true }))
  else cli.print(wrap(`${shortenHome(file, cli.env.HOME)} is written. ${next}`, cli.screen.columns, 2).join('\n'))
  return EXIT.done
}

/** Sets one key of the user's file, which must be right as a whole afterwards. */
function set(call: Call, cli: Cli, key: string, written: string): number {
  const { config: file } = batonHome(cli.env)
  const path = keyPath(key)
  const value = yamlValue(written)
  const before = readIfThere(file)
  const text = before?.toString('utf8') ?? ''
  const broken = checkText(file, text).filter((problem) => problem.key === '' && text !== '')
  if (broken.length > 0) throw refused(`${shortenHome(file, cli.env.HOME)} cannot be read as it is.`, broken)
  const after = withValue(text, path, value, key)
  const problems = checkText(file, after)
  if (problems.length > 0) throw refused(`${replaceControls(key)} was not set: the file would be wrong.`, problems)
  const isChanged = after !== text
  if (isChanged) put(cli, file, after, before)
  if (call.json) cli.print(JSON.stringify({ file, key, value, changed: isChanged }))
  else {
    const said = isChanged
      ? `${key} is ${replaceControls(written)} now`
      : `${key} was ${replaceControls(written)} already`
    cli.print(wrap(`${said} (${shortenHome(file, cli.env.HOME)}).`, cli.screen.columns, 2).join('\n'))
  }
  return EXIT.done
}

/** Opens a copy of the user's file in an editor, and takes it over if it is right. */
function edit(call: Call, cli: Cli): number {
  const { config: file } = batonHome(cli.env)
  const before = readIfThere(file)
  const text = before?.toString('utf8') ?? CONFIG_TEMPLATE
  const folder = mkdtempSync(join(tmpdir(), 'baton-config-'))
  chmodSync(folder, 0o700)
  const copy = join(folder, 'config.yaml')
  writeFileSync(copy, text, { mode: 0o600 })
  let isKept = false
  try {
    openEditor(cli, copy, { json: call.json, unchanged: 'the file', instead: 'use baton config set KEY VALUE' })
    const after = readFileSync(copy, 'utf8')
    const isChanged = after !== text || before === null
    const problems = isChanged ? checkText(file, after) : []
    if (problems.length > 0) {
      isKept = true
      const stays = before === null ? 'no file was written' : 'the file was left as it was'
      throw refused(`Your text is wrong, so ${stays}. Your text is in ${copy}.`, problems)
    }
    isKept = isChanged
    if (isChanged) put(cli, file, after, before)
    isKept = false
    if (call.json) cli.print(JSON.stringify({ file, changed: isChanged }))
    else cli.print(`${shortenHome(file, cli.env.HOME)} ${isChanged ? 'is changed' : 'was left as it is'}.`)
    return EXIT.done
  } finally {
    // A text that could not be taken over is not thrown away.
    if (!isKept) rmSync(folder, { recursive: true, force: true })
    else cli.note(`Your text is still in ${copy}.`)
  }
}

function put(cli: Cli, file: string, text: string, before: Buffer | null): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileAtomic(file, text, { expect: before })
  } catch (error) {
    if (!(error instanceof FileChanged)) throw error
    if (before === null) throw exists(cli, file)
    throw new BatonError(
      `${shortenHome(file, cli.env.HOME)} was changed by another program meanwhile.`,
      'Nothing was written. Try again.',
      EXIT.refused,
    )
  }
}

function exists(cli: Cli, file: string): BatonError {
  return new BatonError(
    `${shortenHome(file, cli.env.HOME)} is there already, and was left as it is.`,
    'baton config edit opens it, baton config set KEY VALUE changes one key.',
    EXIT.refused,
  )
}

function refused(message: string, problems: readonly ConfigProblem[]): BatonError {
  const lines = problems.map(({ key, line, reason, hint }) => {
    const place = key === '' ? '' : `${key}${line === undefined ? '' : ` (line ${line})`}: `
    return replaceControls(`${place}${reason}${hint === '' ? '' : `; ${hint}`}`)
  })
  return new BatonError(message, lines.join('\n       '), EXIT.usage, { errors: problems })
}

/** `handoff.mode`, `levels[0].at`, `hooks["save"].command`. Throws when it is none. */
function keyPath(key: string): KeyPath {
  const steps = [...key.matchAll(/(?:^|\.)([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)]
  if (steps.length > 0 && steps.map(([step]) => step).join('') === key)
    return steps.map(([, name, index, quoted]) => name ?? (index === undefined ? JSON.parse(quoted!) : Number(index)))
  throw new BatonError(
    `"${replaceControls(key)}" is no key.`,
    'Write it as baton config check names keys: handoff.mode, levels[0].at, hooks["save"].command.',
    EXIT.usage,
  )
}

function yamlValue(written: string): unknown {
  try {
    return parseYamlValue(written)
  } catch (error) {
    throw new BatonError(
      `The value cannot be read: ${reasonOf(error).split('\n', 1)[0]}`,
      'Write it as in the file: 70%, false, [user, agent], {mode: ask}.',
      EXIT.usage,
    )
  }
}

function withValue(text: string, path: KeyPath, value: unknown, key: string): string {
  try {
    return setYamlValue(text, path, value)
  } catch (error) {
    throw new BatonError(
      `${replaceControls(key)} was not set: ${reasonOf(error)}.`,
      'baton config edit opens the file.',
      EXIT.usage,
    )
  }
}
