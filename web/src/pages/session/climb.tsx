import { Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type { SessionDetail } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/event.js'
import type { CurveProps } from '../../curve/curve.js'
import { curveData, type Live, marksOf } from '../../curve/curve-data.js'
import { fetched } from '../../fetched.js'
import { percentText } from '../../format.js'
import { Empty, Problem, Skeleton } from '../../parts/faces.js'
import { Section } from '../../parts/page-head.js'
import { useCall } from '../../use-call.js'

// Fetched while the readings are: both take their time.
const curve = fetched<CurveProps>(() => import('../../curve/curve.js').then(({ Curve }) => ({ default: Curve })))
curve.fetch().catch(() => {})

interface ClimbProps {
  session: SessionDetail
  /** When this cycle began is told. */
  whole: boolean
  events: readonly Event[]
}

export function Climb({ session, whole, events }: ClimbProps) {
  const { data: columns, problem, loading, again } = useCall('curve', { id: session.session_id, query: { limit: 100_000 } })
  const live = useLiveReadings(session)
  const data = useMemo(() => curveData(columns, live), [columns, live])
  const marks = useMemo(() => marksOf(events), [events])
  const from = Date.parse(session.cycle_started_at) / 1_000
  return (
    <Section title="Climb">
      <div className="climb" data-empty={(!loading && data[0].length === 0) || undefined}>
        {problem !== null && columns === null ? (
          <Problem problem={problem} again={again} />
        ) : loading ? (
          <Skeleton lines={4} label="Loading the curve" />
        ) : data[0].length === 0 ? (
          <Empty title="No readings yet">
            <p>The curve begins with the first answer of the model.</p>
          </Empty>
        ) : (
          <Suspense fallback={<Skeleton lines={4} />}>
            <curve.Part
              data={data}
              marks={marks}
              levels={session.levels}
              cycleFrom={whole && session.cycle > 1 ? from : null}
              label={`The climb of this session in ${data[0].length} readings, now at ${percentText(session.compaction_percent)} of the compaction point`}
            />
          </Suspense>
        )}
      </div>
    </Section>
  )
}

/** What came while the page was open. The row tells the newest reading only, and so it is enough. */
function useLiveReadings(session: SessionDetail): readonly Live[] {
  const { updated_at: at, used_tokens: used, cycle, compaction_tokens: point } = session
  const [live, setLive] = useState<readonly Live[]>([])
  const last = useRef(0)
  useEffect(() => {
    const time = at === null ? 0 : Date.parse(at)
    if (used === null || time <= last.current) return
    last.current = time
    setLive((before) => [...before, { at: time, used, cycle, point }])
  }, [at, used, cycle, point])
  return live
}
