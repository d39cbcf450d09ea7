import { folderName, shortId } from '../../format.js'
import { useKey } from '../../key.js'
import { Link, useParameter } from '../../navigation.js'
import { Missing, Problem, Skeleton } from '../../parts/faces.js'
import { PageHead } from '../../parts/page-head.js'
import { useCall } from '../../use-call.js'
import { ArchiveAside } from './archive-aside.js'
import { NoKey } from './no-key.js'
import { Transcript } from './transcript.js'

/** One kept transcript: what it is beside what it says. */
export function KeptTranscript({ id }: { id: string }) {
  const key = useKey()
  const [subagent] = useParameter('subagent')
  const [query] = useParameter('q')
  const asked = useCall('archive', key === null ? null : { id })
  const archive = asked.data
  const name = archive?.project ? folderName(archive.project) : 'Transcript'
  return (
    <>
      <nav aria-label="Way back" className="way-back">
        <Link href={query === '' ? '/archive' : `/archive?q=${encodeURIComponent(query)}`}>
          {query === '' ? 'Archive' : `Search for ${query}`}
        </Link>
      </nav>
      <PageHead
        title={
          <>
            {name} <span className="quiet">{shortId(archive?.session_id ?? '')}</span>
          </>
        }
        label={`${name} ${shortId(archive?.session_id ?? '')}`}
      />
      {key === null ? (
        <NoKey />
      ) : asked.problem !== null ? (
        <Missing problem={asked.problem} again={asked.again} list={{ href: '/archive', name: 'All kept transcripts' }} />
      ) : archive === null ? (
        <Skeleton lines={10} />
      ) : (
        <div className="archive-split">
          <ArchiveAside archive={archive} subagent={subagent} />
          <div className="archive-text">
            {archive.status === 'kept' ? (
              <Transcript key={`${archive.archive_id} ${subagent}`} id={archive.archive_id} subagent={subagent} />
            ) : (
              <Problem
                problem={{
                  error: archive.status === 'pending' ? 'It is being kept right now.' : 'It could not be kept.',
                  hint: archive.reason ?? 'It can be read in a moment.',
                }}
                again={asked.again}
              />
            )}
          </div>
        </div>
      )}
    </>
  )
}
