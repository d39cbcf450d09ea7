import './history/history.css'
import type { History as HistoryShown } from '../../../src/contract/api/history.js'
import { folderName, groupedText, moneyText, plural, tokensText, UNKNOWN } from '../format.js'
import { useLive } from '../live/use-live.js'
import { useParameter } from '../navigation.js'
import { Choice } from '../parts/choice.js'
import { Command } from '../parts/copy-button.js'
import { DataTable } from '../parts/data-table.js'
import { Empty, Problem, Skeleton } from '../parts/faces.js'
import { PageHead, Section } from '../parts/page-head.js'
import { useCall } from '../use-call.js'
import { useFresh } from '../use-fresh.js'
import { BarChart } from './history/bar-chart.js'
import { barsOf, dateText, type Measure } from './history/bars.js'
import { figureColumns, inputOf, rateText } from './history/figure-columns.js'
import { isMeasure, MEASURES } from './history/measures.js'
import { ShareTable } from './history/share-table.js'
import { spentMark } from './history/spent-mark.js'

const SPANS = ['30', '90', '365'] as const
const EVERY_MS = 30_000
const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** What Baton has recorded, by day, project and model, in the days of whoever looks. */
export default function History() {
  const [days, setDays] = useParameter('days')
  const span = SPANS.find((each) => each === days) ?? '30'
  const asked = useCall('history', { query: { days: Number(span), timezone } })
  useFresh(useLive(spentMark), asked.again, EVERY_MS)
  return (
    <>
      <PageHead title="History" label="History">
        <Choice
          label="How far back"
          options={SPANS.map((each) => ({ id: each, label: `${each} days` }))}
          chosen={span}
          onChoose={(chosen) => setDays(chosen === '30' ? '' : chosen)}
        />
      </PageHead>
      {asked.problem !== null && asked.data === null ? (
        <Problem problem={asked.problem} again={asked.again} />
      ) : asked.data === null ? (
        <Skeleton lines={8} />
      ) : asked.data.since === null ? (
        <Empty title="Nothing is recorded yet">
          <p>What sessions spend, and what compactions and handoffs save, is counted from the first reading on. To begin:</p>
          <Command text="baton install" />
        </Empty>
      ) : (
        <Recorded history={asked.data} since={asked.data.since} />
      )}
    </>
  )
}

function Recorded({ history, since }: { history: HistoryShown; since: string }) {
  const { totals, days, projects, models } = history
  return (
    <>
      <Totals totals={totals} />
      <ByDay days={days} />
      <Section title="By project">
        <ShareTable
          rows={projects}
          head="Project"
          rowKey={(row) => row.project ?? ''}
          name={({ project }) => (project === null ? 'No project' : <span title={project}>{folderName(project)}</span>)}
          caption="Figures by project"
        />
      </Section>
      <Section title="By model">
        <ShareTable
          rows={models}
          head="Model"
          rowKey={(row) => row.model ?? ''}
          name={({ model }) => model ?? 'Not told'}
          caption="Figures by model"
        />
      </Section>
      <p className="quiet history-note">
        Recorded since {dateText(since, '')}. Days begin at midnight in {history.timezone}. {totals.cost_usd === null && NO_COST}
      </p>
    </>
  )
}

const NO_COST = 'No client said what its sessions cost.'

function Totals({ totals }: { totals: HistoryShown['totals'] }) {
  const figures: [name: string, value: string, told: string][] = [
    ['Spend', moneyText(totals.cost_usd), totals.cost_usd === null ? NO_COST : 'as the clients tell it'],
    ['Sessions', groupedText(totals.sessions), plural(totals.steps, 'step')],
    ['Input', tokensText(inputOf(totals)), `${tokensText(totals.output_tokens)} tokens out`],
    ['Cache hits', rateText(totals.cache_hit_rate), `${tokensText(totals.cache_read_tokens)} tokens read from it`],
    ['Compactions', groupedText(totals.compactions), plural(totals.handoffs, 'handoff')],
    ['Saved', totals.tokens_saved === 0 ? UNKNOWN : tokensText(totals.tokens_saved), 'tokens out of windows'],
  ]
  return (
    <dl className="totals">
      {figures.map(([name, value, told]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            <span className="totals-told">{told}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function ByDay({ days }: { days: HistoryShown['days'] }) {
  const [asked, setMeasure] = useParameter('of')
  const usual: Measure = days.some((day) => (day.cost_usd ?? 0) > 0) ? 'cost_usd' : 'sessions'
  const measure = isMeasure(asked) ? asked : usual
  const { noun, format, isWhole } = MEASURES[measure]
  const bars = barsOf(days, measure)
  const each = bars.length === days.length ? 'day' : 'week'
  const most = bars.reduce((best, bar) => ((bar.value ?? 0) > (best?.value ?? 0) ? bar : best), bars[0])
  const told = `${noun[0]!.toUpperCase()}${noun.slice(1)} by ${each}`
  return (
    <Section
      title="By day"
      aside={
        <Choice
          label="What is drawn"
          options={Object.entries(MEASURES).map(([id, { label }]) => ({ id, label }))}
          chosen={measure}
          onChoose={(chosen) => setMeasure(chosen === usual ? '' : chosen)}
        />
      }
    >
      <BarChart
        bars={bars}
        format={format}
        isWhole={isWhole}
        told={told}
        label={`${told} from ${dateText(days[0]!.date)} to ${dateText(days.at(-1)!.date)}. The most: ${format(most?.value ?? null)} on ${dateText(most!.from)}.`}
      />
      <details className="as-table">
        <summary>As a table</summary>
        <DataTable
          rows={[...days].reverse()}
          columns={[{ id: 'day', head: 'Day', cell: (day) => dateText(day.date) }, ...figureColumns<(typeof days)[number]>()]}
          rowKey={(day) => day.date}
          caption="Figures by day, newest first"
        />
      </details>
    </Section>
  )
}
