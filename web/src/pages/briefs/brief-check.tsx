import type { BriefShown } from '../../../../src/contract/api/briefs.js'
import { percentText, plural } from '../../format.js'
import { countsByKind, kindText, missingByKind } from './brief-facts.js'

type Coverage = NonNullable<BriefShown['coverage']>

/** The brief as it was given, compared with what happened. */
export function BriefCheck({ coverage, author }: { coverage: Coverage | null; author: BriefShown['author'] }) {
  if (coverage === null)
    return <p className="quiet">Not checked: there was no transcript to compare it with, or it could not be read in time.</p>
  const percent = Math.floor(coverage.score * 100)
  return (
    <div className="stack">
      <div className="carries">
        <p>
          <span className="carries-number">{percentText(percent)}</span>{' '}
          <span className="quiet">of what happened, as it was given</span>
        </p>
        <div className="carries-bar" aria-hidden="true">
          <span style={{ inlineSize: `${percent}%` }} />
        </div>
      </div>
      <Counts kinds={coverage.by_kind} />
      <Missing missing={coverage.missing} author={author} />
      {coverage.unsupported.length > 0 && (
        <div>
          <h3>Not supported by what happened</h3>
          <ul className="facts-short">
            {coverage.unsupported.map((figure) => (
              <li key={figure}>{figure}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

function Counts({ kinds }: { kinds: Coverage['by_kind'] }) {
  return (
    <dl className="kinds">
      {countsByKind(kinds).map(({ kind, total, kept }) => (
        <div key={kind} data-whole={kept === total || undefined}>
          <dt>{kindText(kind)}</dt>
          <dd>
            {kept} <span className="quiet">of {total}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Missing({ missing, author }: { missing: Coverage['missing']; author: BriefShown['author'] }) {
  if (missing.length === 0) return <p className="quiet">Nothing that a fresh session needs was left out.</p>
  return (
    <div>
      <h3>
        {author === 'user' ? 'Left out by who edited it' : 'It lacked, and Baton added'}{' '}
        <span className="quiet">{plural(missing.length, 'fact')}</span>
      </h3>
      {missingByKind(missing).map(([kind, texts]) => (
        <div key={kind} className="missing">
          <h4>{kindText(kind)}</h4>
          <ul className="facts-short">
            {texts.map((text) => (
              <li key={text} title={text}>
                {text}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
