import type { ReactNode } from 'react'

/** Names and what they are: the small print of a thing. Entries without a value are left out. */
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
