import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { JobLogPart } from '../../../../src/contract/api/jobs.js'
import { type CallProblem, callApi, problemFrom } from '../../api/call-api.js'
import { useKey } from '../../api/key.js'
import { useLive } from '../../live/use-live.js'
import { ShellCommand } from '../../parts/copy-button.js'
import { clockText, countedNoun, exactTimeText, groupedText } from '../../parts/format.js'
import { Problem, Skeleton } from '../../parts/page-states.js'

/** Pixels from the end within which the view counts as being at the end. */
const NEAR_END_PX = 40
/** A scroll this soon after a wheel, key, touch or mouse event was made by the user. */
const BY_HAND_MS = 400

/** Output of the job's clients as it arrives. Scrolls along until the user scrolls up. */
export function LiveOutput({ jobId, atWork }: { jobId: string; atWork: boolean }) {
  const { log, read, problem, refetch } = useJobLog(jobId, atWork)
  const box = useRef<HTMLDivElement>(null)
  const [following, setFollowing] = useState(true)
  const follows = useRef(true)
  const lastTop = useRef(0)
  const touched = useRef(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are the reason to scroll to the end
  useLayoutEffect(() => {
    if (follows.current) toEnd(box.current)
  }, [log])
  useEffect(() => {
    const element = box.current
    if (element === null) return
    // Estimated heights of lines become exact when the lines are drawn.
    const resizeObserver = new ResizeObserver(() => follows.current && toEnd(element))
    for (const child of element.children) resizeObserver.observe(child)
    return () => resizeObserver.disconnect()
  })
  const touch = (): void => {
    touched.current = performance.now()
  }
  const onScroll = (): void => {
    const { scrollHeight, scrollTop, clientHeight } = box.current!
    const byHand = performance.now() - touched.current < BY_HAND_MS
    if (byHand) touch()
    // Stop following only when the user scrolled up: resized lines and windows also cause scrolls.
    if (scrollHeight - scrollTop - clientHeight < NEAR_END_PX) follows.current = true
    else if (byHand && scrollTop < lastTop.current) follows.current = false
    lastTop.current = scrollTop
    setFollowing(follows.current)
  }
  const goToEnd = (): void => {
    follows.current = true
    setFollowing(true)
    toEnd(box.current)
  }
  if (problem !== null && log.count === 0) return <Problem problem={problem} retry={refetch} />
  if (!read && log.count === 0) return <Skeleton lines={4} label="Reading the output" />
  if (log.count === 0) return <p className="quiet">{atWork ? 'No output yet.' : 'No output.'}</p>
  const hidden = countDropped(log)
  return (
    <div className="output">
      {problem !== null && <Problem problem={problem} retry={refetch} />}
      {hidden > 0 && (
        <div className="output-note quiet">
          <span>The first {groupedText(hidden)} lines are not shown. To print the whole log:</span>{' '}
          <ShellCommand text={`baton jobs logs ${jobId}`} />
        </div>
      )}
      <div
        className="output-box"
        ref={box}
        onScroll={onScroll}
        onWheel={touch}
        onTouchMove={touch}
        onPointerDown={touch}
        onKeyDown={touch}
        role="log"
        aria-live="off"
        aria-label="Output of the job"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
        tabIndex={0}
      >
        <div className="output-lines">
          {log.chunks.map((chunk) => (
            <Chunk key={chunk.first} chunk={chunk} />
          ))}
        </div>
      </div>
      {!following && (
        <button type="button" className="button output-end" onClick={goToEnd}>
          Jump to the end
        </button>
      )}
    </div>
  )
}

function toEnd(box: HTMLElement | null): void {
  if (box !== null) box.scrollTop = box.scrollHeight
}

const Chunk = memo(function Chunk({ chunk: { first, lines } }: { chunk: LogChunk }) {
  return (
    <div className="output-chunk" style={{ containIntrinsicBlockSize: `auto ${lines.length * 20}px` }}>
      {lines.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of a log never moves
        <Line key={first + place} line={line} before={place === 0 ? null : lines[place - 1]!} />
      ))}
    </div>
  )
})

const MARKS: Record<LogLine['kind'], string> = { agent: '', call: '→', result: '←', baton: '·', other: '›' }

function Line({ line, before }: { line: LogLine; before: LogLine | null }) {
  const { at, kind, ok } = line
  const clock = at === null ? null : clockText(at)
  const isNew = clock !== null && (before?.at == null || clockText(before.at) !== clock)
  return (
    <div className="output-line" data-kind={kind} data-failed={!ok || undefined}>
      <span className="output-time">
        {isNew && (
          <time dateTime={at!} title={exactTimeText(at!)}>
            {clock}
          </time>
        )}
      </span>
      <span className="output-mark" aria-hidden="true">
        {ok ? MARKS[kind] : '✗'}
      </span>
      <span className="output-text">
        {!ok && <span className="unseen">failed: </span>}
        {kind === 'agent' || kind === 'baton' ? line.text : <Folded text={line.text} />}
      </span>
    </div>
  )
}

/** Number of lines shown of a tool's result until it is unfolded: results are long. */
const SHOWN = 6

function Folded({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  const lines = text.split('\n')
  if (text.trim() === '') return '(no output)'
  if (open || lines.length <= SHOWN + 1) return text
  return (
    <>
      {lines.slice(0, SHOWN).join('\n')}
      {'\n'}
      <button type="button" className="output-more" onClick={() => setOpen(true)}>
        {countedNoun(lines.length - SHOWN, 'more line')}
      </button>
    </>
  )
}

export type LogLine = JobLogPart['lines'][number]

/** Lines that are drawn together. A full chunk never changes, so that it is drawn only once. */
interface LogChunk {
  /** Number of the chunk's first line in the whole log, from 0; also the chunk's key. */
  first: number
  lines: readonly LogLine[]
}

export interface LogState {
  chunks: readonly LogChunk[]
  /** Number of lines received, including those dropped since. */
  count: number
  /** Cursor at which the next part starts. Null before the first part. */
  next: string | null
  /** True when the server already has the next part. */
  more: boolean
}

export const EMPTY_LOG: LogState = { chunks: [], count: 0, next: null, more: true }
export const LINES_PER_CHUNK = 100
/** Maximum number of lines the page holds; `baton jobs logs` prints the whole log. */
export const MAX_LINES = 20_000

export function appendLog(state: LogState, part: JobLogPart): LogState {
  const { next, more } = part
  if (part.lines.length === 0) return { ...state, next, more }
  const chunks = [...state.chunks]
  let count = state.count
  for (let at = 0; at < part.lines.length; ) {
    const last = chunks.at(-1)
    const room = last === undefined ? 0 : LINES_PER_CHUNK - last.lines.length
    const taken = part.lines.slice(at, at + (room || LINES_PER_CHUNK))
    if (last !== undefined && room > 0) chunks[chunks.length - 1] = { ...last, lines: [...last.lines, ...taken] }
    else chunks.push({ first: count, lines: taken })
    at += taken.length
    count += taken.length
  }
  return { chunks: chunks.slice(-MAX_LINES / LINES_PER_CHUNK), count, next, more }
}

/** Number of lines dropped from the start of the log. */
export const countDropped = ({ chunks }: LogState): number => chunks[0]?.first ?? 0

interface LogReader {
  /** Reads to the end of the log. A call during a read starts one more read after it. */
  readOn(): void
  /** Ends the reader; its callbacks are not called any more. */
  stop(): void
}

interface LogSource {
  /** Fetches the part after a cursor. Null fetches the first part. */
  fetchPart(after: string | null, signal: AbortSignal): Promise<JobLogPart>
  /** Called after every part. `read` is true when the part reached the end of the log. */
  onPart(log: LogState, read: boolean): void
  onFailure(error: unknown): void
}

/** Reads a log one part at a time, starting after `from`. Only one request runs at any time. */
export function makeLogReader(source: LogSource, from: LogState = EMPTY_LOG): LogReader {
  const stopped = new AbortController()
  let log = from
  let isReading = false
  let isWanted = false

  const readToEnd = async (): Promise<void> => {
    isReading = true
    try {
      do {
        isWanted = false
        log = appendLog(log, await source.fetchPart(log.next, stopped.signal))
        if (stopped.signal.aborted) return
        source.onPart(log, !log.more)
      } while (log.more || isWanted)
    } catch (error) {
      if (!stopped.signal.aborted) source.onFailure(error)
    } finally {
      isReading = false
    }
  }

  return {
    readOn() {
      isWanted = true
      if (!isReading && !stopped.signal.aborted) void readToEnd()
    },
    stop: () => stopped.abort(),
  }
}

/** Polling interval while a client works: it writes output between two events of its job. */
const POLL_MS = 1_000

/**
 * Reads the log of a job to its end, and further whenever an event of the job arrives.
 * `atWork` also polls, because a working client may write at any time.
 * Must not be reused for another job: the log read so far would remain.
 */
function useJobLog(
  jobId: string,
  atWork: boolean,
): { log: LogState; read: boolean; problem: CallProblem | null; refetch: () => void } {
  const key = useKey()
  const epoch = useLive((live) => live.epoch)
  const lastEventId = useLive((live) => live.feed.findLast((event) => event.job_id === jobId)?.id ?? 0)
  const [turn, setTurn] = useState(0)
  const [log, setLog] = useState(EMPTY_LOG)
  const [read, setRead] = useState(false)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const latestLog = useRef(EMPTY_LOG)
  const reader = useRef<LogReader | null>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another key starts a new reader after the log so far
  useEffect(() => {
    const newReader = makeLogReader(
      {
        fetchPart: (after, signal) => callApi('jobLog', { id: jobId, query: after === null ? {} : { after }, signal }),
        onPart(next, isEnd) {
          latestLog.current = next
          setLog(next)
          if (!isEnd) return
          setRead(true)
          setProblem(null)
        },
        onFailure: (error) => setProblem(problemFrom(error)),
      },
      latestLog.current,
    )
    reader.current = newReader
    return () => newReader.stop()
  }, [jobId, key])

  useEffect(() => {
    if (!atWork) return
    const timer = setInterval(() => document.visibilityState === 'visible' && setTurn((before) => before + 1), POLL_MS)
    return () => clearInterval(timer)
  }, [atWork])

  // biome-ignore lint/correctness/useExhaustiveDependencies: events, the timer and a new stream are reasons to read on
  useEffect(() => {
    reader.current?.readOn()
  }, [jobId, key, epoch, lastEventId, turn])

  const refetch = useCallback(() => setTurn((before) => before + 1), [])
  return { log, read, problem, refetch }
}
