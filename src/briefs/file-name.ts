import { join } from 'node:path'
import type { BriefOrigin } from '../contract/brief.js'

const SAFE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/
const OURS = /^\.?(\d{4,}-[A-Za-z0-9][A-Za-z0-9_-]*)\.(md|addendum-)/

/** Where a brief lies: `<folder>/<seat>/<sequence>-<brief>.md`. Ids that would lead elsewhere are refused. */
export function briefPath(folder: string, { seatId, sequence, briefId }: BriefOrigin): string {
  if (!SAFE.test(seatId) || !SAFE.test(briefId)) throw new RangeError(`no file can be named after ${seatId}/${briefId}`)
  if (!Number.isSafeInteger(sequence) || sequence < 1) throw new RangeError(`${sequence} is no brief's sequence`)
  return join(folder, seatId, `${String(sequence).padStart(4, '0')}-${briefId}.md`)
}

/** What the names of a brief's file, of its addenda and of those never finished have in common; null: the file is none of them. */
export function stemOf(name: string): string | null {
  return OURS.exec(name)?.[1] ?? null
}

/** The same finding at the same time has the same name: written twice, it is there once. In the order of their times. */
export function addendumPath(briefFile: string, at: string, sha256: string): string {
  return `${briefFile.replace(/\.md$/, '')}.addendum-${at.replace(/[^0-9TZ]/g, '')}-${sha256.slice(0, 12)}.md`
}
