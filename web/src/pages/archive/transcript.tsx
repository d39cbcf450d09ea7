import { type FormEvent, useEffect, useMemo, useRef } from 'react'
import { groupedText } from '../../format.js'
import { navigate, useParameter } from '../../navigation.js'
import { Empty, Problem, Skeleton } from '../../parts/faces.js'
import { termsOf } from './mark-words.js'
import { itemAt, readItems } from './read-items.js'
import { covers } from './reading-window.js'
import { SaidItem } from './said-item.js'
import { ToolItem } from './tool-item.js'
import { useAnchor } from './use-anchor.js'
import { useTranscript } from './use-transcript.js'
import { transcriptHref } from './words.js'

/** What a kept transcript says, to be read. Only a part of it is on the page, however long it is. */
export function Transcript({ id, subagent }: { id: string; subagent: string }) {
  const [asked] = useParameter('line')
  const [query] = useParameter('q')
  const line = /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : null
  const list = useRef<HTMLOListElement>(null)
  const anchor = useRef(() => {})
  const changing = useRef(() => anchor.current()).current
  const { window: shown, problem, busy, more, whole, again } = useTranscript(id, subagent, line, changing)
  anchor.current = useAnchor(list, shown)
  const items = useMemo(() => readItems(shown?.entries ?? []), [shown?.entries])
  const terms = useMemo(() => termsOf(query), [query])
  const target = shown !== null && line !== null && covers(shown, line) ? itemAt(items, line) : undefined
  const found = target?.key
  const goneTo = useRef<number | null>(null)
  useEffect(() => {
    // Once for each line: it may leave the page while one reads, and come back.
    if (found === undefined || goneTo.current === line) return
    goneTo.current = line
    const item = list.current?.querySelector<HTMLElement>(`:scope > [data-key="${found}"]`)
    item?.scrollIntoView({ block: 'center', behavior: 'instant' })
    item?.focus({ preventScroll: true })
  }, [found, line])

  if (problem !== null && shown === null) return <Problem problem={problem} again={again} />
  if (shown === null) return <Skeleton lines={10} />
  if (items.length === 0 && shown.before === null && shown.from === null) {
    return (
      <Empty title="Nothing is said in it">
        <p>The transcript is kept as it was; it holds no prompt, answer or call.</p>
      </Empty>
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
      {shown.before !== null && <More way="back" busy={busy !== null} onMore={more} seen={shown} />}
      <ol className="transcript" ref={list}>
        {items.map((item) => {
          const isTarget = item.key === found
          return item.kind === 'tool' ? (
            <ToolItem
              key={item.key}
              item={item}
              terms={terms}
              isTarget={isTarget}
              onWhole={whole}
              href={(at) => transcriptHref(id, { line: at, subagent })}
            />
          ) : (
            <SaidItem
              key={item.key}
              item={item}
              terms={terms}
              isTarget={isTarget}
              onWhole={whole}
              href={(at) => transcriptHref(id, { line: at, subagent })}
            />
          )
        })}
      </ol>
      {problem !== null && <Problem problem={problem} again={again} />}
      {shown.from !== null ? (
        <More way="on" busy={busy !== null} onMore={more} seen={shown} />
      ) : (
        <p className="quiet transcript-end">This is the end of what was kept.</p>
      )}
    </>
  )
}

/** Reads on by itself when one comes near, and by hand for who does not scroll. */
function More({
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was read may not have filled the page
  useEffect(() => {
    if (busy || ref.current === null) return
    const watch = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore(way), { rootMargin: '900px' })
    watch.observe(ref.current)
    return () => watch.disconnect()
  }, [way, busy, onMore, seen])
  return (
    <button ref={ref} type="button" className="button more" disabled={busy} onClick={() => onMore(way)}>
      {way === 'on' ? 'Later' : 'Earlier'}
    </button>
  )
}

/** Beyond every line: its end, wherever that is. */
const END = 999_999_999

function JumpToLine(props: { id: string; subagent: string; query: string; lines: number | null }) {
  const go = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const line = Number(new FormData(event.currentTarget).get('line'))
    if (!Number.isInteger(line) || line < 1) return
    navigate(transcriptHref(props.id, { line: Math.min(line, props.lines ?? line), subagent: props.subagent, q: props.query }))
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
        onClick={() => navigate(transcriptHref(props.id, { line: props.lines ?? END, subagent: props.subagent }))}
      >
        End
      </button>
    </form>
  )
}
