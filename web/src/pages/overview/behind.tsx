import { percentText, shortId, tokensText } from '../../format.js'
import { Link } from '../../navigation.js'
import { Gauge } from '../../parts/gauge.js'
import { ModelName } from '../../parts/model-name.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { sessionHref } from '../../route.js'
import type { Seat } from '../../seats/seats.js'

/** What is folded under a seat. A subagent has a window of its own, and its gauge is of that. */
export function Behind({ seat: { current, earlier } }: { seat: Seat }) {
  return (
    <ul className="behind">
      {current.subagents.map((subagent) => (
        <li key={subagent.subagent_id}>
          <span className="cut">
            {subagent.type ?? 'subagent'} <span className="quiet">{subagent.description}</span>
          </span>
          <Gauge
            size="slim"
            figures={{
              used_tokens: subagent.used_tokens,
              compaction_tokens: subagent.window_tokens,
              compaction_percent: subagent.used_percent,
            }}
            of="its window"
            label={`Context of subagent ${subagent.type ?? shortId(subagent.subagent_id)}`}
          />
          <span className="nowrap">
            {percentText(subagent.used_percent)} <span className="quiet">of window</span>
          </span>
          <ModelName model={subagent.model} />
          <span className="quiet">
            <RelativeTime at={subagent.updated_at} />
          </span>
        </li>
      ))}
      {earlier.map((row) => (
        <li key={row.session_id}>
          <Link href={sessionHref(row.session_id)} data-item="" className="mono">
            {shortId(row.session_id)}
          </Link>
          <Gauge size="slim" figures={row} label={`Context of the earlier session ${shortId(row.session_id)}`} />
          <span className="nowrap">
            {tokensText(row.used_tokens)} <span className="quiet">at its end</span>
          </span>
          <ModelName model={row.model} />
          <span className="quiet">
            <RelativeTime at={row.ended_at ?? row.seen_at} />
          </span>
        </li>
      ))}
    </ul>
  )
}
