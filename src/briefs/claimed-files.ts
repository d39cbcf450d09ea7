import type { Fact } from '../contract/fact.js'
import { splitBrief } from './split-brief.js'

/** Maximum number of claimed files; a longer list is not checked further. */
const MOST_CLAIMED = 400

type Mode = 'changed' | 'read' | null

const CHANGED = new RegExp(
  String.raw`\b(chang\p{L}*|modif\p{L}*|edited|edits|created?|written|new|added|deleted|removed|renamed|touched|` +
    String.raw`geändert\p{L}*|neu|angelegt|gelöscht|cambiad\p{L}*|cread\p{L}*|créé\p{L}*)\b|变更|変更|修改|新增|измен`,
  'iu',
)
const READ = new RegExp(
  String.raw`\b(read|unread|reading|look(ed)?( at)?|relevant|reference|related|see|gelesen|leídos?|lus?|` +
    String.raw`consult\p{L}*|untouched|unchanged)\b|阅读|読|прочит`,
  'iu',
)
/** Matches words about a file that was not changed, or not yet. */
const NOT_YET = new RegExp(
  String.raw`\b(unchanged|untouched|not (yet )?(changed|touched|modified|written|created)|read[- ]only|` +
    "only read|planned|to be|to do|todo|next|still|will|should|must|needs?|pending|don'?t|never|nicht|" +
    String.raw`unverändert|noch|sin cambios|pas)\b|未`,
  'iu',
)
const MARKED_CHANGED = /[([–—|:-]\s*(changed|modified|created|new|edited|added|deleted|removed|renamed|rewritten)\b/i
/** Files that tools write as a side effect, such as lock files, snapshots and minified code. */
const BY_TOOLS = /(^|[/.-])lock(\.\w+)?$|(^|\/)(package-lock|npm-shrinkwrap)\.json$|\.sum$|\.snap$|\.min\.\w+$/i
/** Commands after which any file may have changed. */
const CHANGES_ANY = new RegExp(
  String.raw`\bgit (?:apply|am|merge|pull|cherry-pick|revert|rebase|stash pop|stash apply|checkout \S+ --)|` +
    String.raw`\bpatch\b|\bunzip\b|\btar\b.*x|\bcp -|\brsync\b|\bcreate-|\bnpm (?:create|init)|\bgenerate\b|` +
    String.raw`\bcodegen\b|\bprotoc\b|\bmakemigrations\b|\b(?:alembic|prisma|rails|flask|django-admin|manage\.py|` +
    String.raw`jscodeshift|ast-grep|comby)\b`,
)
const FORMATS = /--write\b|--fix\b|\bfmt\b|\bblack\b|\bisort\b|\bformat\b|\bsed -i|\bperl -p?i/
const READS_ONLY = new RegExp(
  String.raw`^\s*(?:cat|head|tail|less|more|grep|rg|ls|wc|file|stat|diff|sed -n|git (?:diff|log|show|status|` +
    String.raw`blame|grep|ls-files))\b`,
)

/** Sections that report what was done; the others contain wishes, questions or plans. */
const REPORTING_SECTIONS = new Set<string | null>(['files', 'done', 'state', 'decisions', 'failed', null])
/** Sections whose lists may be lists of changed files. */
const LISTING_SECTIONS = new Set<string | null>(['files', 'done', 'state'])

/** Returns the files a brief claims to have changed: in a list or a sentence that says so. */
export function claimedFiles(body: string): string[] {
  const claimed = new Set<string>()
  for (const part of splitBrief(body)) {
    if (part.added || !REPORTING_SECTIONS.has(part.name)) continue
    if (part.name !== 'files') for (const path of claimedInSentences(part.text)) claimed.add(path)
    if (!LISTING_SECTIONS.has(part.name)) continue
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
        if (said === 'changed') for (const path of pathsAtStart(label.behind)) claimed.add(path)
        if (said !== null || !pathsAtStart(line).length) continue
      }
      if (NOT_YET.test(line.replace(/`[^`]*`/g, ''))) continue
      const said = part.name === 'files' && mode === null && MARKED_CHANGED.test(line)
      if (mode === 'changed' || said) for (const path of pathsAtStart(line)) claimed.add(path)
    }
  }
  return [...claimed].slice(0, MOST_CLAIMED)
}

/**
 * Returns the claimed files without any evidence of a change in the transcript.
 * `said` is other evidence for a path, such as the previous brief.
 */
export function unsupportedFiles(claimed: readonly string[], facts: readonly Fact[], said: string): string[] {
  if (claimed.length === 0) return []
  const files = new Map<string, Fact[]>()
  for (const fact of facts) {
    if (fact.kind === 'file') files.set(baseName(fact.text), [...(files.get(baseName(fact.text)) ?? []), fact])
  }
  const commands = facts.filter(({ kind, state }) => kind === 'command' && state !== 'failed').map(({ text }) => text)
  const acting = commands.filter((command) => !READS_ONLY.test(command))
  if (acting.some((command) => CHANGES_ANY.test(command))) return []
  const did = acting.join('\n')
  const formatted = acting.some((command) => FORMATS.test(command))
  const supported = (path: string): boolean =>
    BY_TOOLS.test(path) ||
    files.get(baseName(path))?.some(({ text, state }) => (state === 'changed' || formatted) && samePath(text, path)) ||
    did.includes(baseName(path)) ||
    said.includes(path)
  return claimed.filter((path) => !supported(path))
}

function modeOf(words: string): Mode {
  const [changed, read] = [CHANGED.test(words), READ.test(words)]
  return changed === read ? null : changed ? 'changed' : 'read'
}

/** Parses a heading, bold text or label with a colon that describes the lines after it. */
function labelOf(line: string): { words: string; behind: string } | null {
  const heading = /^\s{0,3}#{2,6}\s+(.*)$/.exec(line)
  if (heading) return { words: heading[1]!, behind: '' }
  const label =
    /^\s*(?:[-*+•]\s+)?(?:\*\*|__)?([\p{L}][\p{L} ,()/]{1,50}?)(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(.*)$/u.exec(line)
  if (label) return { words: label[1]!, behind: label[2]!.trim() }
  const bold = /^\s*(?:[-*+•]\s+)?(?:\*\*|__)([^*_`]{2,60})(?:\*\*|__)\s*$/.exec(line)
  return bold ? { words: bold[1]!, behind: '' } : null
}

export function samePath(one: string, other: string): boolean {
  return `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`)
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const BULLET = /^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s*)*/
const SPEAKER = /^(?:(?:I|we)\s+(?:have\s+)?)?(?:(?:also|then|now)\s+)?/i
/**
 * Matches a verb whose object is the file: `Edited src/a.ts to sort`, `Created the file notes.md`.
 */
const ACTIVE = new RegExp(
  '^(changed|created|edited|modified|updated|rewrote|rewritten|wrote|written|added|deleted|' +
    String.raw`removed)\s+(?:(?:a|the|two|three|both)\s+)?(?:new\s+)?(?:files?:?\s+)?`,
  'i',
)
/** Matches a passive after the file: `src/a.ts was rewritten`, `src/a.ts (new)`. */
const PASSIVE = new RegExp(
  String.raw`^\s*(?:(?:was|were|is now|are now|has been|have been)\s+(changed|created|edited|modified|updated|` +
    String.raw`rewritten|written|added|deleted|removed)\b|\((?:changed|created|edited|modified|new|added|deleted|` +
    String.raw`removed|rewritten)\))`,
  'i',
)
/** Verbs that place a file: `Added src/a.ts to the build` does not mean that it was written. */
const PLACING_VERB = /^(?:added|removed|wrote|written)$/i
const PLACE_PREPOSITION = /^\s*(?:to|from|in|into|on|under|at)\b/i
const BY_OTHERS = /^\s*by\b/i
/** Matches doubt: a file that was not changed, not yet, or by someone else. */
const DOUBTFUL = new RegExp(
  String.raw`\b(?:unchanged|untouched|not|never|no longer|planned|to be|todo|next|still|will|should|must|needs?|` +
    'pending|if|when|once|unless|until|before|would|could|may|might|user|someone|somebody|upstream|' +
    String.raw`earlier|previous\w*|tried|attempt\w*|revert\w*|undid|undone|nicht|noch)\b|n't\b|\?`,
  'i',
)
/** Endings of product and host names that look like files. */
const NAMES_A_THING = /\.(?:js|io|net|ai|com|org|dev|app)$/i

/**
 * Returns files that a sentence clearly says were changed. When in doubt, a mention is no claim.
 */
function claimedInSentences(text: string): string[] {
  const claimed: string[] = []
  let fenced = false
  for (const line of text.split('\n').slice(1)) {
    if (/^\s{0,3}(?:`{3}|~{3})/.test(line)) fenced = !fenced
    if (fenced || line.length > 2_000 || /^\s*[>#|]/.test(line)) continue
    for (const sentence of line.replace(BULLET, '').split(/(?<=[.;!?])\s+/)) claimed.push(...claimedBy(sentence))
  }
  return claimed
}

/** Returns the files that one sentence says were changed. */
export function claimedBy(sentence: string): string[] {
  if (DOUBTFUL.test(sentence.replace(/`[^`]*`/g, ''))) return []
  const said = sentence.replace(SPEAKER, '')
  const verb = ACTIVE.exec(said)
  const { named, rest } = takePaths(verb ? said.slice(verb[0].length) : said)
  if (verb) return PLACING_VERB.test(verb[1]!) && PLACE_PREPOSITION.test(rest) ? [] : pathsMeant(named)
  const passive = PASSIVE.exec(rest)
  if (!passive) return []
  const behind = rest.slice(passive[0].length)
  const elsewhere = passive[1] !== undefined && PLACING_VERB.test(passive[1]) && PLACE_PREPOSITION.test(behind)
  return elsewhere || BY_OTHERS.test(behind) ? [] : pathsMeant(named)
}

function pathsMeant(named: readonly NamedPath[]): string[] {
  return named
    .filter(({ path, quoted }) => quoted || path.includes('/') || !NAMES_A_THING.test(path))
    .map(({ path }) => path)
}

const LINE_PREFIX = new RegExp(
  String.raw`^\s*(?:[-*+•|]\s*|\d{1,3}[.)]\s+|\[[ xX]\]\s*|[MADRU?]{1,2}\s+(?=\S*[/.])|(?:modified|new file|` +
    String.raw`deleted|changed|created|added|new|edited):?\s+)*`,
  'i',
)

/** Returns the files at the start of a line; files named later are about something else. */
function pathsAtStart(line: string): string[] {
  return takePaths(line.replace(LINE_PREFIX, '')).named.map(({ path }) => path)
}

interface NamedPath {
  path: string
  /** True when it is in backquotes, so that it is a name and not a word. */
  quoted: boolean
}

/** Reads consecutive files at the start of a text. Returns them and the rest. */
function takePaths(text: string): { named: NamedPath[]; rest: string } {
  const named: NamedPath[] = []
  let rest = text
  for (;;) {
    const token = /^(?:\*\*)?(?:`([^`\s]+)`|\[`?([^\]`\s]+)`?\]\([^)]*\)|([^\s`*|,;()]+))(?:\*\*)?/u.exec(rest)
    const path = token && toPath(token[1] ?? token[2] ?? token[3]!)
    if (!token || path === null) return { named, rest }
    named.push({ path, quoted: token[3] === undefined })
    rest = rest.slice(token[0].length)
    const between = /^\s*(?:,|;|&|\+|→|->|and\b|und\b|y\b|et\b)\s*/u.exec(rest)
    if (!between) return { named, rest }
    rest = rest.slice(between[0].length)
  }
}

/** Returns a token as a file path. Null for folders, patterns, URLs and versions. */
function toPath(token: string): string | null {
  const path = token.replace(/^(\.\/|@)/, '').replace(/(:\d[\d:,-]*|#L?\d[\w-]*)?[.:,;!?]*$/, '')
  if (/[*{}<>$"'=]|:\/\/|\.\.\./.test(path) || /^v?\d+(\.\d+)+$/.test(path)) return null
  return /^[^\s]*[^/\s.][^/\s]*\.[A-Za-z][A-Za-z0-9]{0,9}$|^\S*\/\.[\w.-]+$|^\.[a-z][\w.-]+$/u.test(path) ? path : null
}
