import { withOpenApp } from '../../app/open-app.js'
import type { SpendFigures, SpendHistory } from '../../contract/api/history.js'
import { readHistory } from '../../history/history.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls } from '../../lib/replace-controls.js'
import { shortenTokens } from '../../policy/numbers.js'
import type { Call, Cli, Command } from '../command.js'
import { usageError } from '../parse-call.js'
import { type Column, table } from '../render/table.js'
import { projectName, wrap } from '../render/text.js'

const USUAL = 30
const MOST = 400
/** Label for usage whose session record has no project or model. */
const NOT_KNOWN = 'unknown'

export const historyCommand: Command = {
  name: 'history',
  summary: 'show usage and cost by day, project and model',
  usage: ['[--days N] [--timezone Z]'],
  about:
    'Shows what Baton recorded since it was installed: sessions, steps, tokens, cost as the client reports it, ' +
    'compactions and handoffs. SAVED is the number of tokens that these removed from context windows. ' +
    'A step is one answer of the model.',
  options: {
    days: { type: 'string', value: 'N', about: `number of days up to today (default: ${USUAL}, at most ${MOST})` },
    timezone: {
      type: 'string',
      value: 'Z',
      about: 'when days begin, such as Europe/Berlin (default: the timezone of this machine)',
    },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton history', 'show the last 30 days'],
    ['baton history --days 1', 'show today'],
    ['baton history --days 90 --json | jq .totals', 'print the totals of 90 days'],
  ],
  json:
    '{timezone, days: [{date, sessions, steps, input_tokens, output_tokens, cache_creation_tokens, ' +
    'cache_read_tokens, ' +
    'cache_hit_rate, cost_usd, compactions, handoffs, tokens_saved}], projects: [{project, …}], models: [{model, ' +
    '…}], ' +
    'totals, since}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const days = daysOf(call.value('days'))
  const timezone = call.value('timezone') ?? undefined
  return withOpenApp(cli, (app) => {
    const history = readHistory(app.store, { days, timezone }, cli.now())
    cli.print(call.json ? JSON.stringify(history) : page(history, cli).join('\n'))
    return EXIT.done
  })
}

function daysOf(written: string | null): number {
  if (written === null) return USUAL
  const days = Number(written)
  if (/^\d+$/.test(written) && days >= 1 && days <= MOST) return days
  throw usageError(historyCommand, `--days cannot be "${written}".`, `Give a whole number from 1 to ${MOST}.`)
}

function page(history: SpendHistory, cli: Cli): string[] {
  const { paint, columns } = cli.screen
  const busy = history.days.filter(({ sessions, compactions, handoffs }) => sessions + compactions + handoffs > 0)
  if (busy.length === 0) {
    const recent = history.days.length === 1 ? 'today' : `in the last ${history.days.length} days`
    const none =
      history.since === null
        ? 'Nothing is recorded yet. Baton records sessions after baton install.'
        : `Nothing was recorded ${recent}. The first record is from ${history.since}; --days N shows more days.`
    return wrap(none, columns, 0)
  }
  const title = (text: string): string[] => ['', paint(text, 'bold')]
  const named = <T extends SpendFigures>(name: string, cell: (row: T) => string): Column<T> => ({
    title: name,
    dropAt: 0,
    shrinkTo: 16,
    cutFrom: 'start',
    cell,
  })
  const rows = <T extends SpendFigures>(list: readonly T[], first: Column<T>): string[] =>
    table(list, [first, ...FIGURES], columns, paint)
  return [
    ...rows(
      [...busy, { ...history.totals, date: 'total' }],
      named('DAY', ({ date }) => date),
    ),
    ...(history.projects.length > 1
      ? [
          ...title('Projects'),
          ...rows(
            history.projects,
            named('PROJECT', ({ project }) => (project === null ? NOT_KNOWN : projectName(project, cli.env.HOME))),
          ),
        ]
      : []),
    ...(history.models.length > 1
      ? [
          ...title('Models'),
          ...rows(
            history.models,
            named('MODEL', ({ model }) => replaceControls(model ?? NOT_KNOWN)),
          ),
        ]
      : []),
    paint(`Days in ${history.timezone}. Recorded since ${history.since ?? '–'}.`, 'dim'),
  ]
}

const right = (title: string, dropAt: number, cell: (row: SpendFigures) => string): Column<SpendFigures> => ({
  title,
  dropAt,
  align: 'right',
  cell,
})
const FIGURES: Column<SpendFigures>[] = [
  right('SESSIONS', 3, ({ sessions }) => String(sessions)),
  right('STEPS', 4, ({ steps }) => String(steps)),
  right('IN', 2, (row) => shortenTokens(row.input_tokens + row.cache_creation_tokens + row.cache_read_tokens)),
  right('OUT', 2, ({ output_tokens }) => shortenTokens(output_tokens)),
  right('CACHE', 5, ({ cache_hit_rate }) => (cache_hit_rate === null ? '–' : `${Math.round(cache_hit_rate * 100)}%`)),
  right('COST', 1, ({ cost_usd }) => (cost_usd === null ? '–' : `$${cost_usd.toFixed(2)}`)),
  right('COMPACTIONS', 6, ({ compactions }) => String(compactions)),
  right('HANDOFFS', 7, ({ handoffs }) => String(handoffs)),
  right('SAVED', 8, ({ tokens_saved }) => (tokens_saved === 0 ? '–' : shortenTokens(tokens_saved))),
]
