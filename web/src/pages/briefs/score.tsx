import { percentText } from '../../format.js'

/** How much of what happened a brief carries; a dash where there was nothing to compare it with. */
export function Score({ score, bar = false }: { score: number | null; bar?: boolean }) {
  if (score === null)
    return (
      <span className="quiet" title="There was no transcript to compare it with">
        not checked
      </span>
    )
  const percent = Math.floor(score * 100)
  return (
    <span className="score" title={`It carries ${percentText(percent)} of what happened, as it was given`}>
      {bar && (
        <span className="score-bar" aria-hidden="true">
          <span style={{ inlineSize: `${percent}%` }} />
        </span>
      )}
      {percent}%
    </span>
  )
}
