/**
 * Words by which a brief claims something, by language. A language can be added without changing
 * code: `claims.test.ts` runs the examples.
 */
export interface ClaimWords {
  language: string
  /** Kinds of checks, by the words that name them. */
  checks: Readonly<Record<CheckKind, RegExp>>
  passes: RegExp
  /** Present failure only: a failure in the past may be overcome. */
  fails: RegExp
  committed: RegExp
  uncommitted: RegExp
  pushed: RegExp
  unpushed: RegExp
  merged: RegExp
  published: RegExp
  untouched: RegExp
  /** Words after which a sentence is a plan, a wish, a condition or a quotation. */
  hedges: RegExp
  /** Words that turn a positive claim round. */
  denies: RegExp
  examples: readonly { text: string; claims: readonly ClaimKind[] }[]
}

export type CheckKind = 'test' | 'lint' | 'types' | 'build'
export type ClaimKind =
  | `${CheckKind} passes`
  | `${CheckKind} fails`
  | 'committed'
  | 'uncommitted'
  | 'pushed'
  | 'unpushed'
  | 'merged'
  | 'published'
  | 'untouched'

const NEVER = /(?!)/
const anyOf = (...patterns: string[]): RegExp => new RegExp(patterns.join('|'), 'i')
/** Matches whole words of the Latin script. */
const words = (...patterns: string[]): RegExp => anyOf(`\\b(?:${patterns.join('|')})\\b`)
/** Matches whole words, or a sign beside them. */
const wordsAnd = (signs: string, ...patterns: string[]): RegExp => anyOf(words(...patterns).source, signs)

export const CLAIM_WORDS: readonly ClaimWords[] = [
  {
    language: 'en',
    checks: {
      test: /\b(?:tests?|test suites?|specs?|suites?|vitest|jest|pytest|e2e|ci|pipelines?|checks)\b/i,
      lint: /\b(?:lint(?:er|ing|s)?|eslint|biome|golangci(?:-lint)?|ruff|clippy|formatting|prettier)\b/i,
      types: /\b(?:type[- ]?check(?:s|ing|er)?|types|tsc|mypy|pyright)\b/i,
      build: /\b(?:builds?|compil(?:es?|ation|er)|compiles)\b/i,
    },
    passes: wordsAnd(
      '✅|✓',
      'pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|successful(?:ly)?|clean(?:ly)?|ok',
      String.raw`(?:no|zero|0|without|without any) (?:\w+ )?` +
        '(?:errors?|failures?|failed|failing|warnings?|issues?|problems?)',
      'exit(?:s|ed)? (?:with )?(?:code |status )?0|all good',
    ),
    fails: /\b(?:fails|failing|(?:is|are|still) (?:red|broken)|do(?:es)? not pass|doesn't pass|don't pass)\b|❌/i,
    committed: words(
      '(?:is|are|was|were|been|all|everything|changes|work|fix|i|we|now) committed',
      String.raw`committed (?:as|in|to|with|on|everything|all|the)|^committed\b`,
      'working (?:tree|directory|copy) (?:is |was )?clean|nothing (?:left )?to commit',
      'commits? (?:was|were|is|are|has been|have been) (?:made|created)|landed (?:on|in)',
    ),
    uncommitted: words(
      'uncommitted|not (?:yet |been )?committed|nothing (?:is|was|has been) committed',
      'no commits? (?:was|were|has been|have been|is|yet)',
    ),
    pushed: anyOf(
      String.raw`\bpushed\b(?! (?:the (?!branch|commits?|changes?|fix|work|tag)|for|back|through|past|hard))`,
      String.raw`\bis on origin\b|\bup to date with (?:the )?(?:origin|remote)\b`,
    ),
    unpushed: /\b(?:unpushed|not (?:yet |been )?pushed|nothing (?:is|was|has been) pushed|never pushed)\b/i,
    merged: /\b(?:(?:is|was|been|were|are|got) merged|merged (?:into|to|the (?:pr|branch)|pr|as|by))\b/i,
    published: words(
      '(?:is|was|been|were|are|got|now) (?:deployed|released|published)',
      String.raw`(?:deployed|released|published) (?:to|as|on|in|the|version|v?\d)`,
    ),
    untouched: /\b(?:unchanged|untouched|not (?:been )?(?:changed|touched|modified|edited)|no changes? (?:to|in))\b/i,
    hedges: wordsAnd(
      String.raw`\?`,
      'if|when|once|unless|until|before|after|should|must|will|would|could|may|might|needs?|has to',
      'have to|want(?:s|ed)?|to be|todo|next|plan(?:s|ned)?|please|ensure|make sure|verify|confirm',
      String.raw`expect(?:ed|s)?|so that|in order|let's|assum\w*|whether|wait(?:ing)? for|try|want|goal`,
      'ask(?:ed|s)?|rule|never|always|only|instead|rather|previously|earlier|used to|at first',
      'initially|by hand|manually|user',
    ),
    denies: /\b(?:not|no longer|never|n't|without|cannot|neither|nor)\b|n't\b/i,
    examples: [
      { text: 'All 214 tests pass.', claims: ['test passes'] },
      { text: 'The test suite is green and lint is clean.', claims: ['test passes', 'lint passes'] },
      { text: 'Type checking succeeds.', claims: ['types passes'] },
      { text: 'The build is still broken.', claims: ['build fails'] },
      { text: 'Everything is committed and pushed to origin.', claims: ['committed', 'pushed'] },
      { text: 'Nothing was committed.', claims: ['uncommitted'] },
      { text: 'The branch is not pushed yet.', claims: ['unpushed'] },
      { text: 'The pull request was merged into main.', claims: ['merged'] },
      { text: 'Version 2.1.0 was released.', claims: ['published'] },
      { text: 'Run the tests until they pass.', claims: [] },
      { text: 'The tests should pass before it is pushed.', claims: [] },
    ],
  },
  {
    language: 'ja',
    checks: {
      test: /テスト|CI|スペック/,
      lint: /リント|lint|静的解析|フォーマット/i,
      types: /型チェック|型検査/,
      build: /ビルド|コンパイル/,
    },
    passes: /通(?:っ|り|る|過)|成功|パス(?:し|する)|グリーン|合格|エラーな(?:し|く)|問題な(?:し|く)|OK/,
    fails: /失敗(?:して|する|中)|落ち(?:て|る)|通(?:ら|って(?:い)?)ない|壊れて/,
    committed: /コミット(?:済|ずみ|した|しました|しており|してあ|されて|完了)/,
    uncommitted: /未コミット|コミットして(?:い)?(?:ない|ません)|コミットされて(?:い)?(?:ない|ません)/,
    pushed: /(?:プッシュ|push)(?:済|ずみ|した|しました|しており|してあ|されて|完了)/i,
    unpushed: /未プッシュ|(?:プッシュ|push)(?:して|されて)(?:い)?(?:ない|ません)/i,
    merged: /マージ(?:済|ずみ|した|しました|されて|完了)/,
    published: /(?:デプロイ|リリース|公開)(?:済|ずみ|した|しました|されて|完了)/,
    untouched: /変更(?:して|されて)(?:い)?(?:ない|ません)|未変更|変更なし|触(?:って|れて)(?:い)?(?:ない|ません)/,
    hedges:
      /予定|べき|必要|ください|たら|れば|場合|まで|前に|つもり|たい|はず|なら|よう(?:に|と)|次に|か？|ますか|してから/,
    denies: /ない|ません|未/,
    examples: [
      { text: 'テストはすべて通っています。', claims: ['test passes'] },
      { text: 'ビルドは失敗しています。', claims: ['build fails'] },
      { text: '変更はコミット済みで、プッシュしました。', claims: ['committed', 'pushed'] },
      { text: 'まだプッシュされていません。', claims: ['unpushed'] },
      { text: 'テストが通るまで直してください。', claims: [] },
    ],
  },
  {
    language: 'de',
    checks: {
      test: /\b(?:tests?|testl(?:auf|äufe))\b/i,
      lint: /\b(?:lint(?:er)?)\b/i,
      types: /\b(?:typprüfung|typecheck)\b/i,
      build: /\b(?:build|kompilier\p{L}*)\b/iu,
    },
    passes: /\b(?:grün|bestanden|erfolgreich|läuft durch|laufen durch|fehlerfrei|ohne fehler)\b/i,
    fails: /\b(?:schlägt fehl|schlagen fehl|scheitert|ist rot|sind rot)\b/i,
    committed: /\b(?:ist|sind|wurden?|alles) (?:\p{L}+ )?(?:committed|committet|eingecheckt)\b/iu,
    uncommitted: /\bnicht (?:committed|committet|eingecheckt)\b/i,
    pushed: /\b(?:ist|sind|wurden?|alles) (?:\p{L}+ )?gepusht\b/iu,
    unpushed: /\bnicht gepusht\b/i,
    merged: /\b(?:ist|wurde) (?:\p{L}+ )?gemergt\b/iu,
    published: NEVER,
    untouched: /\bunverändert\b/i,
    hedges:
      /\b(?:wenn|falls|sobald|bis|bevor|soll\p{L}*|muss|müssen|wird|werden|bitte|noch|damit|ob|nutzer\p{L}*)\b|\?/iu,
    denies: /\b(?:nicht|kein\p{L}*|nie)\b/iu,
    examples: [
      { text: 'Alle Tests sind grün.', claims: ['test passes'] },
      { text: 'Alles ist committet.', claims: ['committed'] },
      { text: 'Die Tests sollen grün sein, bevor gepusht wird.', claims: [] },
    ],
  },
]
