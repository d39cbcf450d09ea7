import type { Settings } from '../../../../src/contract/api/settings.js'
import { folderName, groupedText, shortId } from '../../format.js'
import { useLive } from '../../live/use-live.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { LevelMark } from '../../parts/level-mark.js'
import { Section } from '../../parts/page-head.js'
import { LevelGauge } from './level-gauge.js'
import { actionsText, MODE_TEXT } from './policy-words.js'

type Level = Settings['levels'][number]

const COLUMNS: Column<Level>[] = [
  { id: 'name', head: 'Level', cell: ({ name }) => <LevelMark level={name} /> },
  { id: 'rule', head: 'Stands at', cell: ({ rule }) => <span className="nowrap">{rule}</span> },
  {
    id: 'tokens',
    head: 'Tokens',
    cell: ({ at_tokens: at, reachable }) => (
      <>
        {groupedText(at)}
        {at !== null && !reachable && <span className="field-trouble"> never reached</span>}
      </>
    ),
    figure: true,
  },
  { id: 'actions', head: 'What happens', cell: ({ actions }) => actionsText(actions), wide: true },
  {
    id: 'mode',
    head: 'The agent hears',
    cell: ({ mode, actions }) => (actions.includes('agent') ? (MODE_TEXT[mode] ?? mode) : null),
    narrow: 'hide',
  },
  { id: 'from', head: 'Written in', cell: ({ from }) => <Written from={from} /> },
]

/** `project file baton.yaml, levels[0]`: the whole path is on hover. */
function Written({ from }: { from: string }) {
  return (
    <span className="nowrap" title={from}>
      {from.replace(/\S*\//g, '')}
    </span>
  )
}

/** The levels in force, drawn and told. */
export function Levels({
  settings,
  session,
  onSession,
}: {
  settings: Settings
  session: string
  onSession: (id: string) => void
}) {
  const used = useLive((live) => live.sessions.get(settings.session_id ?? '')?.used_tokens ?? null)
  return (
    <Section title="Levels" aside={<SessionChoice session={session} onSession={onSession} />}>
      <p className="settings-told">{limitsText(settings)}</p>
      {settings.levels.length === 0 ? (
        <p>There are no levels: nothing is said however full a session is.</p>
      ) : (
        <>
          <LevelGauge settings={settings} used={used} />
          <DataTable
            rows={settings.levels}
            columns={COLUMNS}
            rowKey={(level) => level.name}
            caption="Levels in force, lowest first, and where each comes from"
          />
        </>
      )}
    </Section>
  )
}

function SessionChoice({ session, onSession }: { session: string; onSession: (id: string) => void }) {
  const sessions = useLive((live) => live.sessions)
  const rows = [...sessions.values()].sort((a, b) => b.seen_at.localeCompare(a.seen_at)).slice(0, 200)
  const isListed = session === '' || sessions.has(session)
  return (
    <label className="row settings-choice">
      <span className="quiet">For</span>
      <select value={session} onChange={(event) => onSession(event.target.value)}>
        <option value="">any new session</option>
        {!isListed && <option value={session}>{shortId(session)}</option>}
        {rows.map((row) => (
          <option key={row.session_id} value={row.session_id}>
            {row.seat_name ?? (row.project === null ? 'no project' : folderName(row.project))} · {shortId(row.session_id)}
            {row.model === null ? '' : ` · ${row.model}`}
          </option>
        ))}
      </select>
    </label>
  )
}

function limitsText({
  compaction_tokens: point,
  window_tokens: window,
  compaction_mode: mode,
  exact,
  limits_reason: reason,
  session_id,
}: Settings): string {
  if (point === null) {
    return session_id === null
      ? 'Levels in percent get their place in tokens when a session is measured. Choose one to see where they stand in it.'
      : 'Its window is not known yet: levels in percent cannot be placed.'
  }
  const end = mode === 'off' ? 'It refuses' : mode === 'reactive' ? 'It compacts when the API refuses, expected' : 'It compacts'
  const size = window === null ? '' : ` in a window of ${groupedText(window)}`
  return `${end} at ${exact ? '' : 'about '}${groupedText(point)} tokens${size}: ${reason}.`
}
