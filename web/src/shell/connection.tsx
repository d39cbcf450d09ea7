import { useEffect, useState } from 'react'
import { useLive } from '../live/use-live.js'

const SAYS = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting', refused: 'Not let in' } as const

/** Whether what is shown is what is so. A break that mends itself at once is not worth a word. */
export function Connection() {
  const status = useLive((live) => live.status)
  const version = useLive((live) => live.version)
  const [shown, setShown] = useState(status)
  useEffect(() => {
    const timer = setTimeout(() => setShown(status), status === 'lost' ? 800 : 0)
    return () => clearTimeout(timer)
  }, [status])
  return (
    <p className="connection" role="status" data-status={shown} title={version === null ? undefined : `Baton ${version}`}>
      <span className="connection-dot" aria-hidden="true" />
      {SAYS[shown]}
    </p>
  )
}
