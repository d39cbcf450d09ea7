import { withOpenApp } from '../../app/open-app.js'
import { type ExplainedConfig, explainConfig } from '../../app/settings.js'
import { createUserConfig, editUserConfig, setUserConfigKey } from '../../app/user-config.js'
import type { KeyNote } from '../../config/compiled.js'
import { loadConfig } from '../../config/load-config.js'
import type { Settings } from '../../contract/api/settings.js'
import { asksForHandoff, type ResolvedLevel } from '../../contract/level.js'
import type { ConfigProblem, Policy } from '../../contract/policy.js'
import type { Limits } from '../../contract/reading.js'
import { EXIT } from '../../lib/errors.js'
import { formatCount } from '../../lib/format-count.js'
import { batonHome } from '../../lib/home.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import { formatTokens } from '../../policy/numbers.js'
import type { ActionHelp, Call, Cli, Command } from '../command.js'
import { checkActionForm } from '../parse-call.js'
import { DELIVERY_MODES } from '../render/event-line.js'
import type { Screen } from '../render/screen.js'
import { type Column, table } from '../render/table.js'
import { bytesText, wrap } from '../render/text.js'
import { openEditor } from '../terminal.js'

const ACTIONS = ['check', 'explain', 'init', 'set', 'edit'] as const
type Action = (typeof ACTIONS)[number]

/** Help, number of arguments and options of each action. */
const FORMS: Record<Action, ActionHelp & { least: number; most: number }> = {
  check: {
    summary: 'check the user file and the project file of this folder',
    about: 'Names everything that is wrong, with file and line, and then exits with 2.',
    least: 0,
    most: 0,
    options: [],
  },
  explain: {
    summary: 'show the levels of a session, and the file and rule that set each',
    about:
      'Without an argument: the session in which the command runs, else the newest session of this project, ' +
      'else only the rules.',
    least: 0,
    most: 1,
    options: [],
  },
  init: { summary: 'create a user file with every key commented out', least: 0, most: 0, options: [] },
  set: {
    summary: 'set one key of the user file',
    about:
      'The value is written as in the file, in YAML. Comments and order stay. ' +
      'The file is checked as a whole first; an invalid one is refused with exit code 2.',
    least: 2,
    most: 2,
    options: [],
  },
  edit: {
    summary: 'edit the user file in $VISUAL or $EDITOR',
    about: 'The file is checked as a whole first; an invalid one is refused with exit code 2 and your text is kept.',
    least: 0,
    most: 0,
    options: [],
  },
}

export const configCommand: Command = {
  name: 'config',
  summary: 'check, explain and change the configuration',
  usage: ['check', 'explain [session]', 'init', 'set <key> <value>', 'edit'],
  about:
    'Baton reads a user file (config.yaml) and a project file (baton.yaml). ' +
    'init, set and edit change the user file only.',
  options: {},
  actions: ACTIONS,
  forms: FORMS,
  words: { min: 1, max: 3 },
  examples: [
    ['baton config check', 'find mistakes'],
    ['baton config explain', 'show what applies here, and why'],
    ['baton config explain d76d6c4d --json', 'print the levels of a session for a script'],
    ['baton config init', 'create a user file'],
    ['baton config set handoff.mode ask', 'set a key'],
    ["baton config set 'levels[0].at' '70% of window'", 'set a key in a list (counted from 0)'],
    ['baton config edit', 'open the user file in an editor'],
  ],
  json:
    'check: {ok, errors: [{key, file, reason, hint}], notes, files}; ' +
    'explain: {levels: [{name, at_tokens, rule, from, reachable, …}], …}; ' +
    'init: {file, created}; set: {file, key, value, changed}; edit: {file, changed}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const [action, ...words] = call.words as [Action, ...string[]]
  checkActionForm(configCommand, call, action, FORMS[action])
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
  notes: KeyNote[],
  files: { path: string; exists: boolean }[],
  cli: Cli,
): string[] {
  const { paint, columns } = cli.screen
  const place = (file: string, line?: number): string => `${displayPath(file, cli.env.HOME)}${line ? `:${line}` : ''}`
  const read = files.filter((file) => file.exists)
  const head =
    problems.length > 0
      ? paint(
          `The configuration has ${formatCount(problems.length, 'error')}. Sessions keep the last valid configuration.`,
          'red',
        )
      : read.length > 0
        ? `The configuration is valid (${read.map((file) => place(file.path)).join(', ')}).`
        : `There is no configuration file, so the defaults apply. baton config init creates ${place(files[0]!.path)}.`
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

function noteText({ key, text }: KeyNote, place: string): string {
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
    const off = settings.enabled ? '' : ': it measures sessions and sends no messages'
    const lines = [
      paint(subjectText(explained, cli), 'bold'),
      ...wrap(limitsLine(limits, record !== null), columns, 0),
      `Baton is ${settings.enabled ? 'on' : 'off'} (${because(settings)})${off}.`,
      ...(settings.errors.length > 0
        ? [paint('The files have errors, so the last valid configuration applies. Run baton config check.', 'red')]
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
  const name = displayPath(file.path, env.HOME)
  const head =
    `${name} is not trusted (${file.reason}): only status_line and new levels with actions user and ` +
    'agent apply. Ignored:'
  return [
    ...wrap(screen.paint(replaceControls(head), 'yellow'), screen.columns, 0),
    ...file.ignored.flatMap(({ key, reason }) =>
      wrap(`  ${replaceControls(key)}: ${replaceControls(reason)}`, screen.columns, 4),
    ),
    'Read the file, then run baton trust to accept it.',
  ]
}

const because = ({ enabled, enabled_by: by }: { enabled: boolean; enabled_by: string }): string =>
  by !== 'configuration' ? by : enabled ? 'the default' : 'enabled: false in the configuration'

function compactionText({ compaction, mustSurvive }: Policy): string {
  const texts = mustSurvive.map((text) => `“${replaceControls(text)}”`).join(', ')
  if (compaction === 'allow') {
    const unused = texts === '' ? '' : ` must_survive has no effect then: ${texts}.`
    return `Compactions are not changed (compaction: allow).${unused}`
  }
  const list = texts === '' ? '' : ` The list: ${texts}.`
  const told = `the agent that writes the summary is told what must survive (compaction: ${compaction}).${list}`
  return compaction === 'instruct'
    ? `At a compaction, ${told}`
    : `A compaction is blocked where a handoff can follow. Elsewhere ${told}`
}

const MODES = {
  auto: 'Levels ask the agent for a brief, and a fresh session continues from it',
  ask: 'Levels suggest a handoff to you, and /handoff starts it',
  off: 'No level starts a handoff',
}

function handoffText({ mode, reviewSeconds }: Policy['handoff']): string {
  const review =
    reviewSeconds === 0
      ? 'without a review'
      : reviewSeconds === 'approval'
        ? 'after you approve it'
        : `${reviewSeconds} s after it is ready, unless you cancel it`
  return `${MODES[mode]} (handoff.mode: ${mode}). A brief is used ${review} (handoff.review_seconds: ${reviewSeconds}).`
}

const ARCHIVED_AT: Record<Policy['archive']['at'][number], string> = {
  'pre-compact': 'before a compaction',
  handoff: 'at a handoff',
  'session-end': 'at the end of a session',
}

function archiveText({ enabled, at, keepDays, keepBytes }: Policy['archive']): string {
  if (!enabled) return 'Transcripts are not archived (archive.enabled: false).'
  const limits = [
    ...(keepDays === null ? [] : [`for ${formatCount(keepDays, 'day')}`]),
    ...(keepBytes === null ? [] : [`up to ${bytesText(keepBytes)} in total`]),
  ]
  const kept = limits.length === 0 ? 'until you prune or forget them' : limits.join(', ')
  return `Transcripts are archived ${at.map((one) => ARCHIVED_AT[one]).join(', ')}. They are kept ${kept}.`
}

const CHOSEN_BECAUSE = { named: '', calling: ' (this one)', newest: ' (the newest of this project)' }

function subjectText({ record, chosen }: ExplainedConfig, { env, cwd }: Cli): string {
  if (record === null || chosen === 'none') return `A new session in ${displayPath(cwd, env.HOME)}`
  const { sessionId, model, project } = record
  const where = project === null ? 'an unknown project' : displayPath(project, env.HOME)
  return (
    `Session ${sessionId.slice(0, 8)}${CHOSEN_BECAUSE[chosen]}: ${replaceControls(model ?? 'unknown model')} ` +
    `in ${where}`
  )
}

/**
 * Lists the actions of a level. Those without effect while `handoff.mode` is off are in brackets.
 */
function actionsText({ actions }: ResolvedLevel, handoffsAreOff: boolean): string {
  const shown = actions.map((action) =>
    handoffsAreOff && asksForHandoff({ actions: [action] }) ? `[${action}]` : action,
  )
  return replaceControls(shown.join(', ') || 'only recorded')
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
  { title: 'ACTIONS', dropAt: 2, shrinkTo: 12, cell: (level) => actionsText(level, handoffsAreOff) },
  { title: 'WHEN', dropAt: 3, cell: (level) => (level.actions.length === 0 ? '' : DELIVERY_MODES[level.mode]) },
  { title: 'SET IN', dropAt: 1, shrinkTo: 16, cutFrom: 'start', cell: (level) => replaceControls(level.from) },
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
  if (levels.length === 0) return ['No levels apply. Set presets or levels in the configuration.']
  const beyond = levels.filter((level) => level.atTokens !== null && !level.reachable).map((level) => level.name)
  const end = limits.mode === 'off' ? 'refuses requests' : 'compacts'
  const names = replaceControls(beyond.join(', '))
  const sentence = `Unreachable, because the agent ${end} at ${formatTokens(limits.point ?? 0)} tokens: ${names}.`
  return [
    ...table(levels, columnsOf(handoffsAreOff), columns, paint),
    ...(handoffsAreOff && levels.some(asksForHandoff)
      ? ['', ...wrap('Actions in brackets have no effect, because handoff.mode is off.', columns, 2)]
      : []),
    ...(beyond.length === 0 ? [] : ['', ...wrap(sentence, columns, 2)]),
  ]
}

function limitsLine(limits: Limits, measured: boolean): string {
  if (limits.point === null) {
    return measured
      ? 'The context window of this session is not known yet, so levels in percent have no number of tokens.'
      : 'No session was seen here yet, so levels in percent have no number of tokens.'
  }
  const end = limits.mode === 'off' ? 'Refusal point' : 'Compaction point'
  const window = limits.window === null ? '' : `, window ${formatTokens(limits.window)}`
  const reactive = limits.mode === 'reactive' ? '; the agent compacts only when the API refuses a request' : ''
  const point = `${limits.exact ? '' : 'about '}${formatTokens(limits.point)} tokens${window}`
  return `${end}: ${point}; ${replaceControls(limits.reason)}${reactive}.`
}

function init(call: Call, cli: Cli): number {
  const { file } = createUserConfig(cli.env)
  const next = 'Every key is commented out, so the defaults apply. baton config edit opens the file.'
  if (call.json) cli.print(JSON.stringify({ file, created: true }))
  else cli.print(wrap(`Created ${displayPath(file, cli.env.HOME)}. ${next}`, cli.screen.columns, 2).join('\n'))
  return EXIT.done
}

function set(call: Call, cli: Cli, key: string, written: string): number {
  const { file, value, changed } = setUserConfigKey(cli.env, key, written)
  if (call.json) cli.print(JSON.stringify({ file, key, value, changed }))
  else {
    const said = changed
      ? `${key} is now ${replaceControls(written)}`
      : `${key} was already ${replaceControls(written)}`
    cli.print(wrap(`${said} (${displayPath(file, cli.env.HOME)}).`, cli.screen.columns, 2).join('\n'))
  }
  return EXIT.done
}

function edit(call: Call, cli: Cli): number {
  const { file, changed } = editUserConfig(cli.env, {
    openEditor: (copy) =>
      openEditor(cli, copy, {
        json: call.json,
        unchanged: 'the configuration file',
        instead: 'use baton config set KEY VALUE',
      }),
    keptCopy: (copy) => cli.note(`Your text is kept in ${copy}.`),
  })
  if (call.json) cli.print(JSON.stringify({ file, changed }))
  else cli.print(`${displayPath(file, cli.env.HOME)} ${changed ? 'is changed' : 'is unchanged'}.`)
  return EXIT.done
}
