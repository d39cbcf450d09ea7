import { severityOf } from './severity.js'

const STEPS = [1, 2, 3, 4] as const

/** Icon and name of a level: four rising bars, of which the level's severity fills 1 to 4. */
export function LevelMark({
  level,
  percent = null,
  hideName = false,
}: {
  level: string | null
  percent?: number | null
  hideName?: boolean
}) {
  if (level === null) return null
  const severity = severityOf(level, percent)
  return (
    <span className="level-mark" data-severity={severity} title={`Level ${level}`}>
      <svg viewBox="0 0 14 12" width="14" height="12" aria-hidden="true">
        {STEPS.map((step) => (
          <rect
            key={step}
            x={(step - 1) * 3.5}
            y={12 - step * 3}
            width="2.5"
            height={step * 3}
            className={step <= severity ? 'on' : 'off'}
          />
        ))}
      </svg>
      <span className={hideName ? 'unseen' : undefined}>{level}</span>
    </span>
  )
}
