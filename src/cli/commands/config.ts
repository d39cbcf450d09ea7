import { withOpenApp } from '../../app/open-app.js'
import { type ExplainedConfig, explainConfig } from '../../app/settings.js'
import { createUserConfig, editUserConfig, setUserConfigKey } from '../../app/user-config.js'
import type { Note } from '../../config/compiled.js'
import { loadConfig } from '../../config/load-config.js'
import type { Settings } from '../../contract/api/settings.js'
import { asksForHandoff, type ResolvedLevel } from '../../contract/level.js'
import type { ConfigProblem, Policy } from '../../contract/policy.js'
import type { Limits } from '../../contract/reading.js'
import { formatCount } from '../../lib/counted.js'
import { EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { replaceControls, shortenHome } from '../../lib/shown-text.js'
import { formatTokens } from '../../policy/numbers.js'
import type { Call, Cli, Command } from '../command.js'
import { checkForm } from '../parse-call.js'
import { DELIVERY_MODES } from '../render/event-line.js'
import type { Screen } from '../render/screen.js'
import { type Column, table } from '../render/table.js'
import { bytesText, wrap } from '../render/text.js'
import { openEditor } from '../terminal.js'

const ACTIONS = ['check', 'explain', 'init', 'set', 'edit'] as const
type Action = (typeof ACTIONS)[number]

/** Description, number of arguments and options of each action. */
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

/**
 * Lists all mistakes in the files for this folder, and the accepted keys that have no effect yet.
 */
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

/**
 * Shows the levels of a session, their positions, and the line of the file that set each of them.
 */
function explain(call: Call, cli: Cli, named: string | null): Promise<number> {
  return withOpenApp(cli, (app) => {
    const explained = explainConfig(app, cli, named)
    const { settings, record, policy, limits, levels } = explained
    if (call.json) {
      cli.print(JSON.stringify(settings))
      return EXIT.done
    }
    const { paint, columns } = cli.screen
    const off = settings.enabled ? '' : ': it measures and says nothing'
    const lines = [
      paint(subjectText(explained, cli), 'bold'),
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
      ...levelTable(levels, limits, cli.screen, policy.handoff.mode === 'off'),
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

const CHOSEN_BECAUSE = { named: '', calling: ' (this one)', newest: ' (the newest here)' }

function subjectText({ record, chosen }: ExplainedConfig, { env, cwd }: Cli): string {
  if (record === null || chosen === 'none') return `A new session in ${shortenHome(cwd, env.HOME)}`
  const { sessionId, model, project } = record
  return `Session ${sessionId.slice(0, 8)}${CHOSEN_BECAUSE[chosen]}: ${replaceControls(model ?? 'model not known')} in ${project === null ? '–' : shortenHome(project, env.HOME)}`
}

/**
 * Lists the actions of a level. Those without effect while `handoff.mode` is off are in brackets.
 */
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
    cell: (level) => (level.atTokens === null ? '–' : formatTokens(level.atTokens)),
  },
  { title: 'RULE', dropAt: 0, cell: (level) => replaceControls(level.rule) },
  { title: 'DOES', dropAt: 2, shrinkTo: 12, cell: (level) => actionsText(level, handoffsAreOff) },
  { title: 'WHEN', dropAt: 3, cell: (level) => (level.actions.length === 0 ? '' : DELIVERY_MODES[level.mode]) },
  { title: 'WRITTEN IN', dropAt: 1, shrinkTo: 16, cutFrom: 'start', cell: (level) => replaceControls(level.from) },
]

/**
 * Renders each level's position and origin, and below them the levels that can never be reached.
 */
function levelTable(
  levels: readonly ResolvedLevel[],
  limits: Limits,
  { columns, paint }: Screen,
  handoffsAreOff = false,
): string[] {
  if (levels.length === 0) return ['There are no levels.']
  const beyond = levels.filter((level) => level.atTokens !== null && !level.reachable).map((level) => level.name)
  const end = limits.mode === 'off' ? 'refuses' : 'compacts'
  const sentence = `Unreachable, because the agent ${end} first (at ${formatTokens(limits.point ?? 0)}): ${replaceControls(beyond.join(', '))}.`
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
  const window = limits.window === null ? '' : `, window ${formatTokens(limits.window)}`
  const reactive = limits.mode === 'reactive' ? '; compacts only when the API refuses' : ''
  return `${end} ${limits.exact ? '' : 'about '}${formatTokens(limits.point)}${window} (${replaceControls(limits.reason)}${reactive}).`
}

function init(call: Call, cli: Cli): number {
  const { file } = createUserConfig(cli.env)
  const next =
    'Every key in it is commented out: the defaults apply until you change something. baton config edit opens it.'
  if (call.json) cli.print(JSON.stringify({ file, created: true }))
  else cli.print(wrap(`${shortenHome(file, cli.env.HOME)} is written. ${next}`, cli.screen.columns, 2).join('\n'))
  return EXIT.done
}

function set(call: Call, cli: Cli, key: string, written: string): number {
  const { file, value, changed } = setUserConfigKey(cli.env, key, written)
  if (call.json) cli.print(JSON.stringify({ file, key, value, changed }))
  else {
    const said = changed
      ? `${key} is ${replaceControls(written)} now`
      : `${key} was ${replaceControls(written)} already`
    cli.print(wrap(`${said} (${shortenHome(file, cli.env.HOME)}).`, cli.screen.columns, 2).join('\n'))
  }
  return EXIT.done
}

function edit(call: Call, cli: Cli): number {
  const { file, changed } = editUserConfig(cli.env, {
    openEditor: (copy) =>
      openEditor(cli, copy, { json: call.json, unchanged: 'the file', instead: 'use baton config set KEY VALUE' }),
    keptCopy: (copy) => cli.note(`Your text is still in ${copy}.`),
  })
  if (call.json) cli.print(JSON.stringify({ file, changed }))
  else cli.print(`${shortenHome(file, cli.env.HOME)} ${changed ? 'is changed' : 'was left as it is'}.`)
  return EXIT.done
}
