import type { ReactNode } from 'react'

/** Names and values of a session, job or brief. Entries without a value are hidden. */
export function FactsList({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.flatMap(([name, value]) =>
        value === null || value === undefined || value === false
          ? []
          : [
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>,
            ],
      )}
    </dl>
  )
}
