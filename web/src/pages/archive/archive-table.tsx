import { useState } from 'react'
import type { ArchiveShown } from '../../../../src/contract/api/archives.js'
import { bytesText, folderName, groupedText, plural, shortId } from '../../format.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { archiveHref } from '../../route.js'
import { TRIGGER } from './words.js'

const COLUMNS: Column<ArchiveShown>[] = [
  {
    id: 'project',
    head: 'Project',
    cell: ({ project }) => (project === null ? 'No project' : <span title={project}>{folderName(project)}</span>),
    wide: true,
  },
  {
    id: 'session',
    head: 'Session',
    cell: ({ session_id: id }) => (
      <code className="nowrap" title={id}>
        {shortId(id)}
      </code>
    ),
  },
  { id: 'trigger', head: 'Kept', cell: ({ trigger }) => <span className="nowrap">{TRIGGER[trigger]}</span> },
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
    cell: ({ bytes, stored_bytes: stored }) => (
      <span title={`${groupedText(bytes)} bytes; ${groupedText(stored)} on the disk beyond older archives of it`}>
        {bytesText(bytes)}
      </span>
    ),
    figure: true,
  },
  { id: 'age', head: 'When', cell: ({ created_at: at }) => <RelativeTime at={at} />, figure: true },
  { id: 'status', head: 'State', cell: (archive) => <Status archive={archive} /> },
]

const PAGE = 100

export function ArchiveTable({ archives }: { archives: readonly ArchiveShown[] }) {
  const [most, setMost] = useState(PAGE)
  return (
    <>
      <DataTable
        rows={archives.slice(0, most)}
        columns={COLUMNS}
        rowKey={(archive) => archive.archive_id}
        href={(archive) => archiveHref(archive.archive_id)}
        caption="Kept transcripts, newest first"
      />
      {archives.length > most && (
        <button type="button" className="button more" onClick={() => setMost(most + 5 * PAGE)}>
          Show {plural(Math.min(5 * PAGE, archives.length - most), 'older one')}
        </button>
      )}
    </>
  )
}

function Status({ archive: { status, reason, indexed } }: { archive: ArchiveShown }) {
  const lacks = status === 'kept' && !indexed ? 'not searchable yet' : null
  return (
    <>
      <StateBadge state={status} />
      {(reason ?? lacks) !== null && <span className="reason">{reason ?? lacks}</span>}
    </>
  )
}
