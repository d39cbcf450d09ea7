export type SectionName =
  | 'goal'
  | 'state'
  | 'done'
  | 'next'
  | 'decisions'
  | 'failed'
  | 'files'
  | 'verify'
  | 'questions'
  | 'constraints'
  | 'request'

export interface Section {
  name: SectionName
  title: string
  /** Content the section must have, as the agent is told. */
  wants: string
  /** Headings that mean this section, in the wordings and languages agents use. */
  known: RegExp
}

export const BRIEF_TITLE = 'Handoff brief'
export const ADDITIONS_TITLE = 'Added by Baton'
export const LATE_FINDINGS_TITLE = 'Found later'

/** Sections in their order in a brief. If a heading matches several, `MATCH_ORDER` decides. */
export const SECTIONS: readonly Section[] = [
  {
    name: 'goal',
    title: 'Goal and why',
    wants: 'the goal and its reason',
    known: /\b(goals?|objectives?|purpose|ziel|zweck|objetivos?|but|objectif)\b|目标|目標|目的|цель/iu,
  },
  {
    name: 'state',
    title: 'State',
    wants: 'what works now, what is broken, what is half done',
    known: /\b(state|status|situation|stand|estado|état|where (we|things) (are|stand))\b|状态|状態|現状|состояние/iu,
  },
  {
    name: 'done',
    title: 'Done',
    wants: 'what is finished and must not be repeated',
    known: /\b(done|finished|completed|accomplished|erledigt|hecho|fait|terminé)\b|已完成|完了|сделано/iu,
  },
  {
    name: 'next',
    title: 'Next exact step',
    wants: 'the very next action with file, command and expected result; then the open todos',
    known: /\b(next|todos?|remaining|nächste\p{L}*|siguientes?|próximos?|prochaine?s?)\b|下一步|次の|следующ/iu,
  },
  {
    name: 'decisions',
    title: 'Decisions',
    wants: 'each with its reason and the rejected options',
    known: /\b(decisions?|choices?|entscheidung\p{L}*|decision\p{L}*|decisiones|décisions?)\b|决定|決定|решени/iu,
  },
  {
    name: 'failed',
    title: 'Failed attempts',
    wants: 'what was tried, the exact error, why a retry would fail again',
    known: new RegExp(
      String.raw`\b(failed|failures?|attempts?|dead ends?|tried|fehlversuche?|gescheitert|intentos|fallidos|` +
        String.raw`échecs?|essais)\b|失败|失敗|неудач`,
      'iu',
    ),
  },
  {
    name: 'files',
    title: 'Files',
    wants: 'branch and commit; `Changed:` with one path per line; `Read:` with the files to read first',
    known: /\b(files?|changed|modified|paths|branch|dateien?|archivos?|ficheros?|fichiers?)\b|文件|ファイル|файл/iu,
  },
  {
    name: 'verify',
    title: 'Commands to verify',
    wants: 'the commands as you ran them, each with its last result: passed, or the names of failed tests',
    known: new RegExp(
      String.raw`\b(verify|verification|commands?|tests?|how to (check|run)|prüfen|befehle?|comandos?|verificar|` +
        String.raw`commandes?|vérifi\p{L}*)\b|验证|検証|コマンド|команд`,
      'iu',
    ),
  },
  {
    name: 'questions',
    title: 'Open questions',
    wants: 'what is unanswered, and whom to ask',
    known: /\b(questions?|unknowns?|fragen?|offene\p{L}*|preguntas?|unanswered)\b|问题|質問|未解決|вопрос/iu,
  },
  {
    name: 'constraints',
    title: 'Constraints from the user',
    wants: 'everything the user required or forbade, in the user’s words',
    known: new RegExp(
      String.raw`\b(constraints?|requirements?|rules?|prohibitions?|forbidden|vorgaben?|verbote?|regeln|` +
        String.raw`restricciones|contraintes?)\b|约束|制約|禁止|ограничени`,
      'iu',
    ),
  },
  {
    name: 'request',
    title: 'Last user request',
    wants: 'quoted verbatim: the last request of the user, not this one',
    known: new RegExp(
      String.raw`\b(requests?|prompt|asked|letzte\p{L}* (anfrage|auftrag|bitte)|anfrage|auftrag|petición|` +
        String.raw`solicitud|demande)\b|请求|依頼|リクエスト|запрос`,
      'iu',
    ),
  },
]

/**
 * Order in which sections are matched to a heading, the most specific word first.
 * "Failed tests" is not about verification, and "Next steps: files" is not about files.
 */
const MATCH_ORDER: readonly SectionName[] = [
  ...(['request', 'constraints', 'questions', 'decisions', 'next', 'failed'] as const),
  ...(['verify', 'files', 'goal', 'done', 'state'] as const),
]

/** Sections by importance for a fresh session, the most needed first. */
export const SECTIONS_BY_IMPORTANCE: readonly SectionName[] = [
  ...(['request', 'next', 'constraints', 'state', 'goal', 'questions'] as const),
  ...(['failed', 'files', 'decisions', 'verify', 'done'] as const),
]

const byName = new Map(SECTIONS.map((section) => [section.name, section]))
const byTitle = new Map(SECTIONS.map((section) => [section.title.toLowerCase(), section.name]))

const sectionOf = (name: SectionName): Section => byName.get(name)!

/** Returns the section a heading means. Null for another heading. */
export function sectionOfHeading(heading: string): SectionName | null {
  const plain = heading.replace(/[*_`#:]/g, '').trim()
  const exact = byTitle.get(plain.toLowerCase())
  if (exact !== undefined) return exact
  return MATCH_ORDER.find((name) => sectionOf(name).known.test(plain)) ?? null
}
