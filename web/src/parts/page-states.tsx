import { type ReactNode, useEffect, useState } from 'react'
import { Link } from './navigation.js'

/** Shown in place of an empty list: the reason and how to begin. */
export function EmptyList({ id, title, children }: { id: string; title: string; children?: ReactNode }) {
  return (
    <div className="empty" id={id}>
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export type ProblemView = { error: string; hint?: string | undefined }

/** Shows an error and what to do about it, with a button to retry if `retry` is given. */
export function Problem({ problem, retry }: { problem: ProblemView; retry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{problem.error}</strong>
      </p>
      {problem.hint !== undefined && <p>{problem.hint}</p>}
      {retry && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Shown in place of a session, job or brief that cannot be loaded, with a link to the list. */
export function MissingRecord({
  problem,
  retry,
  list,
}: {
  problem: ProblemView & { status: number }
  retry: () => void
  list: { href: string; name: string }
}) {
  return (
    <>
      <Problem problem={problem} {...(problem.status === 404 ? {} : { retry })} />
      <p className="list-link">
        <Link href={list.href}>{list.name}</Link>
      </p>
    </>
  )
}

/** Placeholder while data loads. Hidden for the first 200 ms, as most replies arrive by then. */
export function Skeleton({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }) {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="skeleton" role="status" aria-label={label} data-shown={shown || undefined}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical and never move
        <span key={line} style={{ inlineSize: `${92 - ((line * 23) % 47)}%` }} />
      ))}
    </div>
  )
}
