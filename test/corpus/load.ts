import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Labels } from './build/label.js'

export type Part = 'seen' | 'unseen'

export interface Transcript {
  name: string
  part: Part
  /** Text of the transcript. */
  file: string
  labels: Labels
}

const here = path.dirname(fileURLToPath(import.meta.url))

export const folderOf = (part: Part): string => path.join(here, part)

/** Returns the labelled transcripts of a part of the corpus, by name. */
export function load(part: Part): Transcript[] {
  const folder = folderOf(part)
  const names = readdirSync(folder).flatMap((name) =>
    name.endsWith('.jsonl') ? [name.slice(0, -'.jsonl'.length)] : [],
  )
  return names.sort().map((name) => ({
    name,
    part,
    file: path.join(folder, `${name}.jsonl`),
    labels: JSON.parse(readFileSync(path.join(folder, `${name}.labels.json`), 'utf8')),
  }))
}
