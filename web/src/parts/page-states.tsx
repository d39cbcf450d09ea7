import { type ReactNode, useEffect, useState } from 'react'
import { Link } from './navigation.js'

/** Nothing here yet: says why, and how to begin. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export type ProblemShown = { error: string; hint?: string | undefined }

/** Something did not work: what, and what to do about it. */
export function Problem({ problem, again }: { problem: ProblemShown; again?: () => void }) {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{problem.error}</strong>
      </p>
      {problem.hint !== undefined && <p>{problem.hint}</p>}
      {again && (
        <button type="button" className="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

/** In the place of a page whose thing is not there: what is wrong, and the way to those that are. */
export function Missing({
  problem,
  again,
  list,
}: {
  problem: ProblemShown & { status: number }
  again: () => void
  list: { href: string; name: string }
}) {
  return (
    <>
      <Problem problem={problem} {...(problem.status === 404 ? {} : { again })} />
      <p className="way-on">
        <Link href={list.href}>{list.name}</Link>
      </p>
    </>
  )
}

/** Where something will stand. Nothing is shown in the first moments: most answers are there by then. */
export function Skeleton({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }) {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="skeleton" role="status" aria-label={label} data-shown={shown || undefined}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same and never move
        <span key={line} style={{ inlineSize: `${92 - ((line * 23) % 47)}%` }} />
      ))}
    </div>
  )
}
