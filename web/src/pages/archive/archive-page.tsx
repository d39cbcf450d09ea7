import './archive.css'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { ArchiveView, HitView } from '../../../../src/contract/api/archives.js'
import { useCall } from '../../api/use-call.js'
import { ShellCommand } from '../../parts/copy-button.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import {
  bytesText,
  countedNoun,
  folderName,
  groupedText,
  shortId,
  toSentence,
  UNKNOWN_TEXT,
} from '../../parts/format.js'
import { Link, useParameter } from '../../parts/navigation.js'
import { PageHead } from '../../parts/page-head.js'
import { EmptyList, Problem, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { archiveHref } from '../../parts/route.js'
import { StateBadge } from '../../parts/state-badge.js'
import { HIT_KIND_TEXTS, quoteForShell, TRIGGER_TEXTS, transcriptHref } from './archive-labels.js'
import { TranscriptPage } from './transcript.js'
import { MarkedText, type Term, termsOf } from './transcript-items.js'

export default function ArchivePage({ id }: { id: string | null }) {
  return id === null ? <ArchiveList /> : <TranscriptPage id={id} />
}

/** List and search of all archives. The query and filters are stored in the address. */
function ArchiveList() {
  const [queryParameter, setQueryParameter] = useParameter('q')
  const [project, setProject] = useParameter('project')
  const [session, setSession] = useParameter('session')
  const [typed, setTyped] = useState(queryParameter)
  const debounced = useDebounced(typed.trim(), 200)
  const query = typed.trim() === '' ? '' : debounced
  const list = useCall('archives', { query: { session: session || undefined, limit: 1_000 } })
  const archives = list.data?.archives ?? []
  const projects = [...new Set(archives.flatMap((archive) => archive.project ?? []))].sort()
  // True when there are no archives at all, not only none that match.
  const isEmpty = list.data !== null && archives.length === 0 && session === ''
  const shown = project === '' ? archives : archives.filter((archive) => archive.project === project)
  const type = (value: string): void => {
    setTyped(value)
    setQueryParameter(value.trim())
  }

  return (
    <>
      <PageHead title="Archive" label="Archive">
        {list.data !== null && archives.length > 0 && (
          <p className="quiet">
            {countedNoun(archives.length, 'transcript')}, {bytesText(list.data.total_bytes)} on disk, search index{' '}
            {bytesText(list.data.index_bytes)}
          </p>
        )}
      </PageHead>
      <search className="archive-search">
        <label>
          <span className="unseen">Search all kept transcripts</span>
          <input
            type="search"
            value={typed}
            onChange={(event) => type(event.target.value)}
            onKeyDown={(event) => (event.key === 'Enter' || event.key === 'ArrowDown') && focusFirstResult(event)}
            placeholder="Search all kept transcripts"
            autoComplete="off"
            spellCheck={false}
            maxLength={1_000}
          />
        </label>
        {(projects.length > 1 || project !== '') && (
          <label>
            <span className="unseen">Project</span>
            <select value={project} onChange={(event) => setProject(event.target.value)}>
              <option value="">All projects</option>
              {[...new Set([...projects, ...(project === '' ? [] : [project])])].map((path) => (
                <option key={path} value={path}>
                  {folderName(path)}
                </option>
              ))}
            </select>
          </label>
        )}
        {session !== '' && (
          <button type="button" className="button" onClick={() => setSession('')}>
            Session <code>{session.slice(0, 8)}</code> only
            <span aria-hidden="true">×</span>
            <span className="unseen">: show all sessions</span>
          </button>
        )}
      </search>
      {query !== '' && !isEmpty ? (
        <SearchResults query={query} project={project} session={session} />
      ) : list.problem !== null ? (
        <Problem problem={list.problem} retry={list.refetch} />
      ) : list.loading ? (
        <Skeleton lines={8} />
      ) : shown.length === 0 ? (
        <NoArchives filtered={!isEmpty} />
      ) : (
        <ArchiveTable archives={shown} />
      )}
    </>
  )
}

/** Moves the focus from the search field to the first result. */
function focusFirstResult(event: KeyboardEvent): void {
  const first = document.querySelector<HTMLElement>('main a[data-item]')
  if (first === null) return
  event.preventDefault()
  first.focus()
}

function NoArchives({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <EmptyList id="no-archives-here" title="No kept transcripts here">
        <p>Baton keeps a transcript before each compaction and at each handoff. To keep one now:</p>
        <ShellCommand text="baton archive keep" />
      </EmptyList>
    )
  }
  return (
    <EmptyList id="no-archives" title="No kept transcripts yet">
      <p>
        Before each compaction and at each handoff, Baton keeps the whole transcript, byte for byte. It appears here,
        and you can search every word of it. To keep the transcript of a session now:
      </p>
      <ShellCommand text="baton archive keep" />
    </EmptyList>
  )
}

const COLUMNS: Column<ArchiveView>[] = [
  {
    id: 'title',
    head: 'Conversation',
    cell: (archive) => <Conversation archive={archive} />,
    wide: true,
  },
  {
    id: 'project',
    head: 'Project',
    cell: ({ project }) =>
      project === null ? (
        'No project'
      ) : (
        <span className="cell-name cut" title={project}>
          {folderName(project)}
        </span>
      ),
  },
  {
    id: 'session',
    head: 'Session',
    cell: ({ session_id: id }) => (
      <code className="nowrap" title={id}>
        {shortId(id)}
      </code>
    ),
    narrow: 'hide',
  },
  { id: 'trigger', head: 'Kept', cell: ({ trigger }) => <span className="nowrap">{TRIGGER_TEXTS[trigger]}</span> },
  {
    id: 'subagents',
    head: 'Subagents',
    cell: ({ subagents }) => (subagents.length === 0 ? null : groupedText(subagents.length)),
    figure: true,
    narrow: 'hide',
    spare: true,
  },
  {
    id: 'size',
    head: 'Size',
    cell: ({ bytes, stored_bytes: stored, status }) =>
      status === 'failed' ? (
        UNKNOWN_TEXT
      ) : (
        <span
          title={`${groupedText(bytes)} bytes, ${groupedText(stored)} on disk beside older archives of the session`}
        >
          {bytesText(bytes)}
        </span>
      ),
    figure: true,
    narrow: 'hide',
  },
  { id: 'age', head: 'When', cell: ({ created_at: at }) => <RelativeTime at={at} />, figure: true },
]

const PAGE_SIZE = 100

function ArchiveTable({ archives }: { archives: readonly ArchiveView[] }) {
  const [most, setMost] = useState(PAGE_SIZE)
  return (
    <>
      <DataTable
        rows={archives.slice(0, most)}
        columns={
          archives.some(({ subagents }) => subagents.length > 0)
            ? COLUMNS
            : COLUMNS.filter(({ id }) => id !== 'subagents')
        }
        rowKey={(archive) => archive.archive_id}
        href={(archive) => archiveHref(archive.archive_id)}
        caption="Kept transcripts, newest first"
      />
      {archives.length > most && (
        <button type="button" className="button more" onClick={() => setMost(most + 5 * PAGE_SIZE)}>
          Show {countedNoun(Math.min(5 * PAGE_SIZE, archives.length - most), 'older transcript')}
        </button>
      )}
    </>
  )
}

/** Title of an archive, and why it is not kept or not searchable if so. */
function Conversation({ archive: { title, session_id: id, status, reason, indexed } }: { archive: ArchiveView }) {
  const note = reason === null ? (status === 'kept' && !indexed ? 'Not searchable yet' : null) : toSentence(reason)
  return (
    <>
      {title ?? `Session ${shortId(id)}`}
      {(status !== 'kept' || note !== null) && (
        <span className="reason">
          {status !== 'kept' && <StateBadge state={status} />} {note}
        </span>
      )}
    </>
  )
}

const FIRST_LIMIT = 40
const MAX_LIMIT = 200

function SearchResults({ query, project, session }: { query: string; project: string; session: string }) {
  const [limit, setLimit] = useState(FIRST_LIMIT)
  const request = useCall('searchArchives', {
    query: { q: query, project: project || undefined, session: session || undefined, limit },
  })
  const reply = useLastValue(request.data, request.problem !== null)
  const terms = useMemo(() => termsOf(query), [query])
  if (request.problem !== null) return <Problem problem={request.problem} retry={request.refetch} />
  if (reply === null) return <Skeleton lines={8} label="Searching" />
  const { hits, unreadable, unread } = reply
  return (
    <div className="hits" aria-busy={request.loading}>
      <p className="quiet hits-count" role="status">
        {hits.length === 0
          ? ''
          : `${hits.length === limit ? 'Best ' : ''}${countedNoun(hits.length, 'match', 'matches')}`}
      </p>
      {unreadable.length > 0 && (
        <p className="field-trouble">
          {countedNoun(unreadable.length, 'archive')} with a match cannot be read. To find out why:{' '}
          <ShellCommand text="baton archive verify" />
        </p>
      )}
      {unread.length > 0 && (
        <p className="quiet">
          {countedNoun(unread.length, 'transcript')} could not be searched in time. Search again in a moment.
        </p>
      )}
      {hits.length === 0 ? (
        <NoResults query={query} />
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
      {hits.length === limit && limit < MAX_LIMIT && (
        <button type="button" className="button more" onClick={() => setLimit(MAX_LIMIT)}>
          Show more
        </button>
      )}
    </div>
  )
}

function Found({ hit, terms, query }: { hit: HitView; terms: readonly Term[]; query: string }) {
  return (
    <li className="hit">
      <Link
        className="hit-words"
        data-item=""
        href={transcriptHref(hit.archive_id, { line: hit.line, subagent: hit.subagent, q: query })}
      >
        <span data-mono={hit.kind === 'command' || hit.kind === 'result' || hit.kind === 'call' || undefined}>
          <MarkedText text={hit.snippet} terms={terms} />
        </span>
      </Link>
      <p className="hit-place">
        <span data-kind={hit.kind}>{HIT_KIND_TEXTS[hit.kind]}</span>
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

function NoResults({ query }: { query: string }) {
  return (
    <EmptyList id="no-matches" title="No matches">
      <p>
        All words must be in the same prompt, answer, command or result. <code>"a phrase"</code> finds these words
        together, <code>begin*</code> finds words that start with these letters. The same search in a terminal:
      </p>
      <ShellCommand text={`baton archive search ${quoteForShell(query)}`} />
    </EmptyList>
  )
}

/** Returns the value after it has not changed for `ms` milliseconds. */
function useDebounced<T>(value: T, ms: number): T {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return debounced
}

/** Returns the last value while the next one loads, so that the list does not flicker. */
function useLastValue<T>(value: T | null, isOver: boolean): T | null {
  const last = useRef<T | null>(null)
  if (value !== null) last.current = value
  if (isOver) last.current = null
  return value ?? last.current
}
