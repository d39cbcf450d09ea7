import type { Archive, ArchiveRecord } from '../../contract/archive.js'
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
    const files = [
      ...new Set(
        record.parts.flatMap(({ streamId, bytes }) => (streamId === null ? [] : filesOf(archives.segments(streamId), bytes))),
      ),
    ]
    if (call.json) cli.print(JSON.stringify({ ...archive, transcript_path: record.parts[0]?.path ?? null, files }))
    else cli.print(page(record, archive, files, cli).join('\n'))
    return EXIT.done
  })
}

function filesOf(segments: readonly { file: string; from: number }[], bytes: number): string[] {
  return segments.filter(({ from }) => from < bytes).map(({ file }) => file)
}

function page(record: ArchiveRecord, archive: Archive, files: string[], cli: Cli): string[] {
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
    ['stored', archive.status === 'kept' ? `${bytesText(archive.stored_bytes)} beyond older archives of it` : null],
    ['sha256', archive.sha256],
    ['searchable', archive.status === 'kept' ? (archive.indexed ? 'yes' : 'not yet') : null],
    ['reason', archive.reason],
    ['again', record.status === 'failed' && record.retryAt !== null ? `tried again after ${stamp(record.retryAt)}` : null],
    ...archive.subagents.map(({ name, bytes, trouble }): [string, string] => [
      'subagent',
      `${name}  ${trouble ?? bytesText(bytes)}`,
    ]),
    ...files.map((file): [string, string] => ['file', file]),
  ]
  return [
    `${paint(archive.archive_id, 'bold')}  ${archive.status}`,
    ...facts.flatMap(([name, value]) =>
      value === null ? [] : wrap(`  ${padEnd(name, NAME_WIDTH)}${harmless(value)}`, columns, NAME_WIDTH + 2),
    ),
  ]
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
