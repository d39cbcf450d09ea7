import { readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SegmentRecord } from '../contract/archive.js'
import { DamagedArchive, makeBlocks } from './blocks.js'

/** Unpacked in about half a second. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Whether an archive may build on a stream: each file is there in its size and unpacks to what the source begins with. Of a stream longer
 * than `mostBytes` the last block of each file is looked at, and others at even distances, not the same ones each time it has grown.
 */
export function isSound(folder: string, segments: readonly SegmentRecord[], source: number, mostBytes = MOST_BYTES): boolean {
  const blocks = makeBlocks(folder, 0)
  try {
    if (segments.some(({ file, storedBytes }) => sizeOf(join(folder, file)) !== storedBytes)) return false
    return spansOf(segments, mostBytes).every(([from, to]) => blocks.read(segments, from, to).equals(bytesOf(source, from, to)))
  } catch (error) {
    if (error instanceof DamagedArchive) return false
    throw error
  }
}

/** Bytes [from, to) of the stream, a block each. */
function spansOf(segments: readonly SegmentRecord[], mostBytes: number): [from: number, to: number][] {
  const stride = Math.ceil((segments.at(-1)?.to ?? 0) / mostBytes)
  let at = segments.length
  return segments.flatMap(({ from, to, blocks, blockBytes }) =>
    blocks.flatMap((_, nth): [number, number][] => {
      const last = nth === blocks.length - 1
      if (at++ % stride !== 0 && !last) return []
      return [[from + nth * blockBytes, last ? to : from + (nth + 1) * blockBytes]]
    }),
  )
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size

function bytesOf(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from)
  let got = 0
  for (let more = 1; more > 0 && got < bytes.length; got += more) more = readSync(fd, bytes, got, bytes.length - got, from + got)
  return bytes.subarray(0, got)
}
