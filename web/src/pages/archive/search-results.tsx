import { useMemo, useState } from 'react'
import type { HitShown } from '../../../../src/contract/api/archives.js'
import { folderName, groupedText, plural, shortId } from '../../format.js'
import { Link } from '../../navigation.js'
import { Command } from '../../parts/copy-button.js'
import { Empty, Problem, Skeleton } from '../../parts/faces.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { useCall } from '../../use-call.js'
import { type Term, termsOf } from './mark-words.js'
import { Marked } from './marked.js'
import { useKept } from './use-late.js'
import { KIND, quoted, transcriptHref } from './words.js'

const FEW = 40
const MOST = 200

export function SearchResults({ query, project, session }: { query: string; project: string; session: string }) {
  const [limit, setLimit] = useState(FEW)
  const asked = useCall('searchArchives', {
    query: { q: query, project: project || undefined, session: session || undefined, limit },
  })
  const reply = useKept(asked.data, asked.problem !== null)
  const terms = useMemo(() => termsOf(query), [query])
  if (asked.problem !== null) return <Problem problem={asked.problem} again={asked.again} />
  if (reply === null) return <Skeleton lines={8} label="Searching" />
  const { hits, unreadable } = reply
  return (
    <div className="hits" aria-busy={asked.loading}>
      <p className="quiet hits-count" role="status">
        {hits.length === 0 ? '' : `${hits.length === limit ? 'The best ' : ''}${plural(hits.length, 'place')}`}
      </p>
      {unreadable.length > 0 && (
        <p className="field-trouble">
          {plural(unreadable.length, 'archive')} with a match cannot be read any more. <Command text="baton archive verify" />
        </p>
      )}
      {hits.length === 0 ? (
        <NothingFound query={query} />
      ) : (
        <ol>
          {hits.map((hit) => (
            <Found
              key={`${hit.archive_id} ${hit.subagent} ${hit.line} ${hit.kind} ${hit.snippet}`}
              hit={hit}
              terms={terms}
              query={query}
            />
          ))}
        </ol>
      )}
      {hits.length === limit && limit < MOST && (
        <button type="button" className="button more" onClick={() => setLimit(MOST)}>
          Show more
        </button>
      )}
    </div>
  )
}

function Found({ hit, terms, query }: { hit: HitShown; terms: readonly Term[]; query: string }) {
  return (
    <li className="hit">
      <Link
        className="hit-words"
        data-item=""
        href={transcriptHref(hit.archive_id, { line: hit.line, subagent: hit.subagent, q: query })}
      >
        <span data-mono={hit.kind === 'command' || hit.kind === 'result' || hit.kind === 'call' || undefined}>
          <Marked text={hit.snippet} terms={terms} />
        </span>
      </Link>
      <p className="hit-place">
        <span data-kind={hit.kind}>{KIND[hit.kind]}</span>
        {hit.project !== null && <span title={hit.project}>{folderName(hit.project)}</span>}
        <span>
          <code title={hit.session_id}>{shortId(hit.session_id)}</code> line {groupedText(hit.line)}
        </span>
        {hit.subagent !== null && <span>{hit.subagent}</span>}
        {hit.at !== null && <RelativeTime at={hit.at} />}
      </p>
    </li>
  )
}

function NothingFound({ query }: { query: string }) {
  return (
    <Empty title="Nothing was found">
      <p>
        All words must stand in the same prompt, answer, command or result. <code>"a phrase"</code> stands together,{' '}
        <code>begin*</code> is the beginning of a word. The same in a terminal:
      </p>
      <Command text={`baton archive search ${quoted(query)}`} />
    </Empty>
  )
}
