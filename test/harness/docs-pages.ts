import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { REPOSITORY } from './paths.js'

/** A code block of a page. */
export interface Block {
  /** The page and line of the opening fence, as `docs/guides/jobs.md:12`. */
  place: string
  language: string
  text: string
  /** Reason from a `<!-- not run: … -->` comment above the block. Null when the block is run. */
  notRun: string | null
}

export interface Page {
  /** Path below the repository. */
  file: string
  text: string
  /** The text without its code blocks. */
  prose: string
  blocks: Block[]
}

const FENCE = /(?:<!-- not run: ([^\n]*?) -->\n+)?^( *)```(\w*)\n([\s\S]*?)^ *```$/gm

/** Returns every Markdown page of the repository, with its code blocks. Fixtures are left out. */
export function docsPages(): Page[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  })
  const files = listed.split('\n').filter((file) => file !== '' && !/^(test|real)\/|\/fixtures\//.test(file))
  return files.map((file) => {
    const text = readFileSync(path.join(REPOSITORY, file), 'utf8')
    const blocks = [...text.matchAll(FENCE)].map((match): Block => {
      const [all, notRun, indent, language, body] = match
      const before = text.slice(0, match.index + all.indexOf('```'))
      return {
        place: `${file}:${before.split('\n').length}`,
        language: language!,
        text: body!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        notRun: notRun ?? null,
      }
    })
    return { file, text, prose: text.replace(FENCE, ''), blocks }
  })
}

/** Returns the part of a page from a heading to the next heading of the same or a higher rank. */
export function sectionOf(text: string, heading: string): string {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => new RegExp(`^#+ ${heading}$`).test(line))
  if (start < 0) return ''
  const rank = lines[start]!.indexOf(' ')
  const end = lines.findIndex((line, index) => index > start && /^#+ /.test(line) && line.indexOf(' ') <= rank)
  return lines.slice(start, end < 0 ? undefined : end).join('\n')
}
