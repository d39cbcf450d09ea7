import type { Fact } from '../contract/fact.js'
import { claimedInWords } from './claimed-in-words.js'
import { pathsAt } from './paths-at.js'
import { splitBrief } from './split-brief.js'

/** A list nobody could have meant is looked at no further. */
const MOST_CLAIMED = 400

type Mode = 'changed' | 'read' | null

const CHANGED =
  /\b(chang\p{L}*|modif\p{L}*|edited|edits|created?|written|new|added|deleted|removed|renamed|touched|geändert\p{L}*|neu|angelegt|gelöscht|cambiad\p{L}*|cread\p{L}*|créé\p{L}*)\b|变更|変更|修改|新增|измен/iu
const READ =
  /\b(read|unread|reading|look(ed)?( at)?|relevant|reference|related|see|gelesen|leídos?|lus?|consult\p{L}*|untouched|unchanged)\b|阅读|読|прочит/iu
/** What is said of a file that was not changed, or not yet. */
const NOT_YET =
  /\b(unchanged|untouched|not (yet )?(changed|touched|modified|written|created)|read[- ]only|only read|planned|to be|to do|todo|next|still|will|should|must|needs?|pending|don'?t|never|nicht|unverändert|noch|sin cambios|pas)\b|未/iu
const SAID_CHANGED = /[([–—|:-]\s*(changed|modified|created|new|edited|added|deleted|removed|renamed|rewritten)\b/i
/** Written by tools along with other work. */
const BY_TOOLS = /(^|[/.-])lock(\.\w+)?$|(^|\/)(package-lock|npm-shrinkwrap)\.json$|\.sum$|\.snap$|\.min\.\w+$/i
/** Commands after which any file may have changed, or any that exists. */
const CHANGES_ANY =
  /\bgit (?:apply|am|merge|pull|cherry-pick|revert|rebase|stash pop|stash apply|checkout \S+ --)|\bpatch\b|\bunzip\b|\btar\b.*x|\bcp -|\brsync\b|\bcreate-|\bnpm (?:create|init)|\bgenerate\b|\bcodegen\b|\bprotoc\b|\bmakemigrations\b|\b(?:alembic|prisma|rails|flask|django-admin|manage\.py|jscodeshift|ast-grep|comby)\b/
const FORMATS = /--write\b|--fix\b|\bfmt\b|\bblack\b|\bisort\b|\bformat\b|\bsed -i|\bperl -p?i/
const READS_ONLY =
  /^\s*(?:cat|head|tail|less|more|grep|rg|ls|wc|file|stat|diff|sed -n|git (?:diff|log|show|status|blame|grep|ls-files))\b/

/** Sections that tell what was done; the others tell what is wanted, asked, or to be done. */
const TELLS = new Set<string | null>(['files', 'done', 'state', 'decisions', 'failed', null])
/** Sections whose lists may say that they are of changed files. */
const LISTS = new Set<string | null>(['files', 'done', 'state'])

/** Files a brief says were changed, as they are written there: in a list that says so, or in a sentence that says nothing else. */
export function claimedFiles(body: string): string[] {
  const claimed = new Set<string>()
  for (const part of splitBrief(body)) {
    if (part.added || !TELLS.has(part.name)) continue
    if (part.name !== 'files') for (const path of claimedInWords(part.text)) claimed.add(path)
    if (!LISTS.has(part.name)) continue
    let mode = part.name === 'files' ? modeOf(part.heading) : null
    const start = mode
    for (const line of part.text.split('\n').slice(1)) {
      if (line.length > 2_000) continue
      const label = labelOf(line)
      if (label !== null) {
        const said = modeOf(label.words)
        if (label.behind === '') {
          mode = said ?? (READ.test(label.words) || !/^#/.test(line.trim()) ? null : start)
          continue
        }
        if (said !== null && !/^\s*[-*+•]/.test(line)) mode = said
        if (said === 'changed') for (const path of pathsAt(label.behind)) claimed.add(path)
        if (said !== null || !pathsAt(line).length) continue
      }
      if (NOT_YET.test(line.replace(/`[^`]*`/g, ''))) continue
      const said = part.name === 'files' && mode === null && SAID_CHANGED.test(line)
      if (mode === 'changed' || said) for (const path of pathsAt(line)) claimed.add(path)
    }
  }
  return [...claimed].slice(0, MOST_CLAIMED)
}

/** Of those, the files nothing in the transcript supports. `said`: what else vouches for a path, such as the brief before this one. */
export function unsupportedFiles(claimed: readonly string[], facts: readonly Fact[], said: string): string[] {
  if (claimed.length === 0) return []
  const files = new Map<string, Fact[]>()
  for (const fact of facts) {
    if (fact.kind === 'file') files.set(lastOf(fact.text), [...(files.get(lastOf(fact.text)) ?? []), fact])
  }
  const commands = facts.filter(({ kind, state }) => kind === 'command' && state !== 'failed').map(({ text }) => text)
  const acting = commands.filter((command) => !READS_ONLY.test(command))
  if (acting.some((command) => CHANGES_ANY.test(command))) return []
  const did = acting.join('\n')
  const formatted = acting.some((command) => FORMATS.test(command))
  const supported = (path: string): boolean =>
    BY_TOOLS.test(path) ||
    files.get(lastOf(path))?.some(({ text, state }) => (state === 'changed' || formatted) && samePath(text, path)) ||
    did.includes(lastOf(path)) ||
    said.includes(path)
  return claimed.filter((path) => !supported(path))
}

function modeOf(words: string): Mode {
  const [changed, read] = [CHANGED.test(words), READ.test(words)]
  return changed === read ? null : changed ? 'changed' : 'read'
}

/** A heading, a bold word or a word with a colon that says what follows it is. */
function labelOf(line: string): { words: string; behind: string } | null {
  const heading = /^\s{0,3}#{2,6}\s+(.*)$/.exec(line)
  if (heading) return { words: heading[1]!, behind: '' }
  const label = /^\s*(?:[-*+•]\s+)?(?:\*\*|__)?([\p{L}][\p{L} ,()/]{1,50}?)(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(.*)$/u.exec(line)
  if (label) return { words: label[1]!, behind: label[2]!.trim() }
  const bold = /^\s*(?:[-*+•]\s+)?(?:\*\*|__)([^*_`]{2,60})(?:\*\*|__)\s*$/.exec(line)
  return bold ? { words: bold[1]!, behind: '' } : null
}

function samePath(one: string, other: string): boolean {
  return `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`)
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
