import {
  type FormEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { TranscriptPart } from '../../../../src/contract/api/archives.js'
import { type CallProblem, callApi, problemFrom } from '../../api/call-api.js'
import { useCall } from '../../api/use-call.js'
import { folderName, groupedText, shortId, toSentence } from '../../parts/format.js'
import { Link, navigate, useParameter } from '../../parts/navigation.js'
import { PageHead } from '../../parts/page-head.js'
import { EmptyList, MissingRecord, Problem, Skeleton } from '../../parts/page-states.js'
import { ArchiveAside } from './archive-aside.js'
import { transcriptHref } from './archive-labels.js'
import { MessageItem, ToolItem, termsOf } from './transcript-items.js'
import {
  appendLines,
  itemAt,
  prependLines,
  type ReadingWindow,
  readItems,
  windowHasLine,
  windowOf,
  withFullLine,
} from './transcript-lines.js'

/** Page of an archived transcript, with its facts beside the text. */
export function TranscriptPage({ id }: { id: string }) {
  const [subagent] = useParameter('subagent')
  const [query] = useParameter('q')
  const request = useCall('archive', { id })
  const archive = request.data
  const name = archive?.title ?? (archive?.project ? folderName(archive.project) : 'Transcript')
  return (
    <>
      <nav aria-label="Back" className="back-link">
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
      {request.problem !== null ? (
        <MissingRecord
          problem={request.problem}
          retry={request.refetch}
          list={{ href: '/archive', name: 'All kept transcripts' }}
        />
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
                  error:
                    archive.status === 'pending'
                      ? 'The transcript is being archived.'
                      : 'The transcript could not be archived.',
                  hint: archive.reason === null ? 'Try again in a moment.' : toSentence(archive.reason),
                }}
                retry={request.refetch}
              />
            )}
          </div>
        </div>
      )}
    </>
  )
}

/** Text of an archived transcript. Only a window of a long transcript is loaded. */
function Transcript({ id, subagent }: { id: string; subagent: string }) {
  const [lineParameter] = useParameter('line')
  const [query] = useParameter('q')
  const line = /^[1-9]\d{0,8}$/.test(lineParameter) ? Number(lineParameter) : null
  const list = useRef<HTMLOListElement>(null)
  const anchor = useRef(() => {})
  const changing = useRef(() => anchor.current()).current
  const { window: shown, problem, busy, more, whole, refetch } = useTranscript(id, subagent, line, changing)
  anchor.current = useAnchor(list, shown)
  const items = useMemo(() => readItems(shown?.entries ?? []), [shown?.entries])
  const terms = useMemo(() => termsOf(query), [query])
  const target = shown !== null && line !== null && windowHasLine(shown, line) ? itemAt(items, line) : undefined
  const found = target?.key
  const scrolledTo = useRef<number | null>(null)
  useEffect(() => {
    // Scroll once per line: the target may be dropped while scrolling and loaded again later.
    if (found === undefined || scrolledTo.current === line) return
    scrolledTo.current = line
    const item = list.current?.querySelector<HTMLElement>(`:scope > [data-key="${found}"]`)
    item?.scrollIntoView({ block: 'center', behavior: 'instant' })
    item?.focus({ preventScroll: true })
  }, [found, line])

  if (problem !== null && shown === null) return <Problem problem={problem} retry={refetch} />
  if (shown === null) return <Skeleton lines={10} />
  if (items.length === 0 && shown.before === null && shown.from === null) {
    return (
      <EmptyList id="no-lines" title="Empty transcript">
        <p>It contains no prompt, answer or tool call.</p>
      </EmptyList>
    )
  }
  const first = shown.entries[0]?.line
  const last = shown.entries.at(-1)?.line
  return (
    <>
      <div className="transcript-bar">
        <p className="quiet">
          <span className="unseen">Lines </span>
          {groupedText(first)} – {groupedText(last)}
          {shown.lines !== null && ` of ${groupedText(shown.lines)}`}
        </p>
        <JumpToLine id={id} subagent={subagent} query={query} lines={shown.lines} />
      </div>
      {shown.before !== null && <LoadMore way="back" busy={busy !== null} onMore={more} seen={shown} />}
      <ol className="transcript" ref={list}>
        {items.map((item) => {
          const Entry = item.kind === 'tool' ? ToolItem : MessageItem
          return (
            <Entry
              key={item.key}
              item={item}
              terms={terms}
              isTarget={item.key === found}
              onWhole={whole}
              href={(at) => transcriptHref(id, { line: at, subagent })}
            />
          )
        })}
      </ol>
      {problem !== null && <Problem problem={problem} retry={refetch} />}
      {shown.from !== null ? (
        <LoadMore way="on" busy={busy !== null} onMore={more} seen={shown} />
      ) : (
        <p className="quiet transcript-end">End of the transcript</p>
      )}
    </>
  )
}

/** Button that loads more lines, also by itself when it comes near the screen. */
function LoadMore({
  way,
  busy,
  onMore,
  seen,
}: {
  way: 'on' | 'back'
  busy: boolean
  onMore: (way: 'on' | 'back') => void
  seen: unknown
}) {
  const ref = useRef<HTMLButtonElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the loaded lines may not have filled the page
  useEffect(() => {
    if (busy || ref.current === null) return
    const watch = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore(way), { rootMargin: '900px' })
    watch.observe(ref.current)
    return () => watch.disconnect()
  }, [way, busy, onMore, seen])
  return (
    <button ref={ref} type="button" className="button more" disabled={busy} onClick={() => onMore(way)}>
      {way === 'on' ? 'Load later lines' : 'Load earlier lines'}
    </button>
  )
}

/** Line number beyond every transcript, which jumps to its end. */
const END = 999_999_999

function JumpToLine(props: { id: string; subagent: string; query: string; lines: number | null }) {
  const go = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const line = Number(new FormData(event.currentTarget).get('line'))
    if (!Number.isInteger(line) || line < 1) return
    navigate(
      transcriptHref(props.id, { line: Math.min(line, props.lines ?? line), subagent: props.subagent, q: props.query }),
    )
  }
  return (
    <form className="row" onSubmit={go}>
      <label className="row">
        Line
        <input name="line" type="number" min={1} max={props.lines ?? undefined} inputMode="numeric" required />
      </label>
      <button type="submit" className="button">
        Go
      </button>
      <button
        type="button"
        className="button"
        data-act="end"
        onClick={() => navigate(transcriptHref(props.id, { line: props.lines ?? END, subagent: props.subagent }))}
      >
        Go to the end
      </button>
    </form>
  )
}

const PAGE_SIZE = 120

interface Reading {
  window: ReadingWindow | null
  problem: CallProblem | null
  /** Direction in which lines are being loaded. Null when none are. */
  busy: 'on' | 'back' | null
  more: (way: 'on' | 'back') => void
  whole: (line: number) => Promise<void>
  refetch: () => void
}

/** Loads a transcript around a line and further both ways. Calls `changing` before each change. */
function useTranscript(id: string, subagent: string, line: number | null, changing: () => void): Reading {
  const [window, setWindow] = useState<ReadingWindow | null>(null)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const [busy, setBusy] = useState<Reading['busy']>(null)
  const [turn, setTurn] = useState(0)
  const stop = useRef<AbortController | null>(null)
  const shown = useRef(window)
  shown.current = window

  const ask = useCallback(
    (query: { from?: number; before?: number; limit: number; whole?: true }, signal: AbortSignal) =>
      callApi('transcript', { id, query: { ...query, subagent: subagent || undefined }, signal }),
    [id, subagent],
  )

  useEffect(() => {
    const controller = new AbortController()
    stop.current = controller
    setBusy(null)
    const isLoaded = shown.current?.entries.some((entry) => entry.line === line) ?? false
    if (line !== null && isLoaded && turn === 0) return () => controller.abort()
    setProblem(null)
    const from = Math.max(1, line ?? 1)
    // Sequential: the server scans a long transcript to find a line, and two scans are no faster.
    const parts = async (): Promise<TranscriptPart[]> => {
      const back = from === 1 ? [] : [await ask({ before: from, limit: PAGE_SIZE / 4 }, controller.signal)]
      return [...back, await ask({ from, limit: PAGE_SIZE }, controller.signal)]
    }
    parts().then(
      (loaded) => {
        if (!controller.signal.aborted) setWindow(windowOf(...loaded))
      },
      (error) => controller.signal.aborted || setProblem(problemFrom(error)),
    )
    return () => controller.abort()
  }, [ask, line, turn])

  const more = useCallback(
    (way: 'on' | 'back'): void => {
      const signal = stop.current?.signal
      const now = shown.current
      const at = way === 'on' ? now?.from : now?.before
      if (signal === undefined || at === null || at === undefined) return
      setBusy(way)
      ask(way === 'on' ? { from: at, limit: PAGE_SIZE } : { before: at, limit: PAGE_SIZE }, signal).then(
        (part) => {
          if (signal.aborted) return
          changing()
          setWindow((before) => before && (way === 'on' ? appendLines : prependLines)(before, part))
          setBusy(null)
        },
        (error) => {
          if (signal.aborted) return
          setProblem(problemFrom(error))
          setBusy(null)
        },
      )
    },
    [ask, changing],
  )

  const whole = useCallback(
    async (at: number): Promise<void> => {
      const signal = stop.current?.signal ?? new AbortController().signal
      const { entries } = await ask({ from: at, limit: 1, whole: true }, signal)
      setWindow((before) => before && withFullLine(before, entries))
    },
    [ask],
  )
  const refetch = useCallback(() => setTurn((before) => before + 1), [])
  return { window, problem, busy, more, whole, refetch }
}

/** Keeps the scroll position when lines above the screen are added or removed. */
function useAnchor(list: RefObject<HTMLElement | null>, changed: unknown): () => void {
  const held = useRef<{ key: string; top: number }[]>([])
  const hold = useCallback((): void => {
    const items = [...(list.current?.querySelectorAll<HTMLElement>(':scope > [data-key]') ?? [])]
    const from = items.findIndex((item) => item.getBoundingClientRect().bottom > 0)
    // Hold several items: the first may merge into another, as a result does into its call.
    held.current = items
      .slice(Math.max(0, from), Math.max(0, from) + 8)
      .map((item) => ({ key: item.dataset.key!, top: item.getBoundingClientRect().top }))
  }, [list])
  // biome-ignore lint/correctness/useExhaustiveDependencies: restore the position after every change
  useLayoutEffect(() => {
    for (const { key, top } of held.current) {
      const item = list.current?.querySelector<HTMLElement>(`:scope > [data-key="${key}"]`)
      if (!item) continue
      window.scrollBy({ top: item.getBoundingClientRect().top - top, behavior: 'instant' })
      break
    }
    held.current = []
  }, [changed, list])
  return hold
}
