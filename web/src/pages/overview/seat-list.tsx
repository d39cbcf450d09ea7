import { useMemo } from 'react'
import { LongList } from '../../parts/long-list.js'
import type { Alarm } from '../../seats/alarms.js'
import type { Seat } from '../../seats/seats.js'
import { SeatRow } from './seat-row.js'

export function SeatList({ seats, alarms }: { seats: readonly Seat[]; alarms: readonly Alarm[] }) {
  const kinds = useMemo(() => new Map([...alarms].reverse().map(({ seat_id, kind }) => [seat_id, kind])), [alarms])
  return (
    <section aria-label="All seats">
      <div className="seat-heads" aria-hidden="true">
        <span>Seat</span>
        <span>Climb to the compaction point</span>
        <span>State</span>
        <span>Model</span>
        <span>Spent</span>
      </div>
      <LongList
        items={seats}
        itemKey={({ seat_id }) => seat_id}
        draw={(seat) => <SeatRow seat={seat} alarm={kinds.get(seat.seat_id) ?? null} />}
        label="Seats"
        estimate={matchMedia('(max-width: 75rem)').matches ? 136 : 67}
      />
    </section>
  )
}
