import { type KeyboardEvent, useState } from 'react'
import { bytesText, folderName, plural } from '../../format.js'
import { useKey } from '../../key.js'
import { useParameter } from '../../navigation.js'
import { Command } from '../../parts/copy-button.js'
import { Empty, Problem, Skeleton } from '../../parts/faces.js'
import { PageHead } from '../../parts/page-head.js'
import { useCall } from '../../use-call.js'
import { ArchiveTable } from './archive-table.js'
import { NoKey } from './no-key.js'
import { SearchResults } from './search-results.js'
import { useLate } from './use-late.js'

/** What is kept, and the search over all of it. What is typed and chosen stands in the address. */
export function KeptTranscripts() {
  const key = useKey()
  const [asked, setAsked] = useParameter('q')
  const [project, setProject] = useParameter('project')
  const [session, setSession] = useParameter('session')
  const [typed, setTyped] = useState(asked)
  const late = useLate(typed.trim(), 200)
  const query = typed.trim() === '' ? '' : late
  const list = useCall('archives', key === null ? null : { query: { session: session || undefined, limit: 1_000 } })
  const archives = list.data?.archives ?? []
  const projects = [...new Set(archives.flatMap((archive) => archive.project ?? []))].sort()
  // Not even one that a search could leave out.
  const isEmpty = list.data !== null && archives.length === 0 && session === ''
  const shown = project === '' ? archives : archives.filter((archive) => archive.project === project)
  const type = (value: string): void => {
    setTyped(value)
    setAsked(value.trim())
  }

  return (
    <>
      <PageHead title="Archive" label="Archive">
        {list.data !== null && archives.length > 0 && (
          <p className="quiet">
            {plural(archives.length, 'transcript')}, {bytesText(list.data.total_bytes)} on the disk,{' '}
            {bytesText(list.data.index_bytes)} to search them
          </p>
        )}
      </PageHead>
      {key === null ? (
        <NoKey />
      ) : (
        <>
          <search className="archive-search">
            <label>
              <span className="unseen">Search in everything that was said</span>
              <input
                type="search"
                value={typed}
                onChange={(event) => type(event.target.value)}
                onKeyDown={(event) => (event.key === 'Enter' || event.key === 'ArrowDown') && toFirst(event)}
                placeholder="Search in everything that was said"
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
            <Problem problem={list.problem} again={list.again} />
          ) : list.loading ? (
            <Skeleton lines={8} />
          ) : shown.length === 0 ? (
            <NothingKept filtered={!isEmpty} />
          ) : (
            <ArchiveTable archives={shown} />
          )}
        </>
      )}
    </>
  )
}

/** From the field into what was found. */
function toFirst(event: KeyboardEvent): void {
  const first = document.querySelector<HTMLElement>('main a[data-item]')
  if (first === null) return
  event.preventDefault()
  first.focus()
}

function NothingKept({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="Nothing is kept of this">
        <p>A transcript is kept before it is compacted and at a handoff. To keep what a session has said so far:</p>
        <Command text="baton archive keep" />
      </Empty>
    )
  }
  return (
    <Empty title="Nothing is kept yet">
      <p>
        Before a compaction drops anything, and at every handoff, Baton keeps the whole transcript, byte for byte. It appears
        here, and every word of it can be found. To keep what a session has said so far:
      </p>
      <Command text="baton archive keep" />
    </Empty>
  )
}
