import { join } from 'node:path'
import type { Archive, ArchiveRecord, SegmentRecord } from '../../contract/archive.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { bytesText } from '../render/bytes.js'
import { tilde } from '../render/paths.js'
import { stamp } from '../render/times.js'
import { harmless, padEnd } from '../render/width.js'
import { wrap } from '../render/wrap.js'
import { inArchives } from './open-archives.js'

const NAME_WIDTH = 12

export async function show(call: Call, cli: Cli): Promise<number> {
  return inArchives(call, cli, ({ archives }) => {
    const record = archives.find(call.words[1]!)
    const archive = archives.view([record])[0]!
    const segments = record.parts.flatMap(({ streamId, bytes }) => archives.segments(streamId).filter(({ from }) => from < bytes))
    const files = segments.map(({ file }) => file)
    if (call.json) cli.print(JSON.stringify({ ...archive, transcript_path: record.parts[0]?.path ?? null, files }))
    else cli.print(page(record, archive, segments, archives.places.folder, cli).join('\n'))
    return EXIT.done
  })
}

function page(record: ArchiveRecord, archive: Archive, segments: readonly SegmentRecord[], folder: string, cli: Cli): string[] {
  const { paint, columns } = cli.screen
  const facts: [string, string | null][] = [
    ['session', archive.session_id],
    ['project', archive.project === null ? null : tilde(archive.project, cli.env.HOME)],
    [
      'created',
      `${stamp(archive.created_at)}, ${archive.trigger === 'auto' ? 'the client compacted' : trigger(archive.trigger)}`,
    ],
    ['transcript', record.parts[0] ? tilde(record.parts[0].path, cli.env.HOME) : null],
    ['size', archive.status === 'failed' ? null : `${bytesText(archive.bytes)} (${archive.bytes} bytes)`],
    ['stored', archive.status === 'kept' ? storedText(archive.stored_bytes, segments) : null],
    ['sha256', archive.sha256],
    ['searchable', archive.status === 'kept' ? (archive.indexed ? 'yes' : 'not yet') : null],
    ['reason', archive.reason],
    ['again', record.status === 'failed' && record.retryAt !== null ? `tried again after ${stamp(record.retryAt)}` : null],
    ...archive.subagents.map(({ name, bytes, trouble }): [string, string] => [
      'subagent',
      `${name}  ${trouble ?? bytesText(bytes)}`,
    ]),
    ...segments.map(({ file }): [string, string] => ['file', tilde(join(folder, file), cli.env.HOME)]),
  ]
  return [
    `${paint(archive.archive_id, 'bold')}  ${archive.status}`,
    ...facts.flatMap(([name, value]) =>
      value === null ? [] : factLines(name, harmless(value), columns - 2).map((line) => `  ${line}`),
    ),
  ]
}

function storedText(own: number, segments: readonly SegmentRecord[]): string {
  const all = segments.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
  if (own === all) return bytesText(own)
  return `${own === 0 ? 'nothing' : bytesText(own)} beyond older archives of it, ${bytesText(all)} with them`
}

/** A value without spaces to break it at, as paths are, is broken where the line ends: beside its name, never below it. */
function factLines(name: string, value: string, width: number): string[] {
  const room = Math.max(10, width - NAME_WIDTH)
  const pieces = (word: string): string => word.match(new RegExp(`.{1,${room}}`, 'gu'))!.join(' ')
  const text =
    room === Number.POSITIVE_INFINITY ? value : value.replace(/\S+/g, (word) => (word.length > room ? pieces(word) : word))
  return wrap(padEnd(name, NAME_WIDTH) + text, width, NAME_WIDTH)
}

function trigger(name: Archive['trigger']): string {
  return {
    auto: '',
    manual: 'compacted by hand',
    handoff: 'at a handoff',
    'session-end': 'at the end of the session',
    request: 'asked for',
  }[name]
}
