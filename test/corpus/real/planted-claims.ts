import { readFileSync } from 'node:fs'
import { checkBrief } from '../../../src/briefs/check-brief.js'
import { judgeClaims, sentencesOf } from '../../../src/briefs/claims.js'
import { searchTranscript } from '../../../src/briefs/transcript-text.js'
import type { Fact } from '../../../src/contract/fact.js'
import type { Claim } from '../../../src/contract/records/brief.js'
import type { RealLabels } from './real-labels.js'

/** A false sentence that is added to a good brief. */
export interface PlantedClaim {
  kind: 'check' | 'commit' | 'push' | 'file' | 'version' | 'figure'
  text: string
}

const pick = <T>(all: readonly T[], random: () => number): T => all[Math.floor(random() * all.length)]!

/** Small pseudorandom generator that is the same on every run. */
export const seeded = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

const hex = (random: () => number): string =>
  `${Math.floor(random() * 10)}${Array.from({ length: 7 }, () => pick([...'0123456789abcdef'], random)).join('')}e`

const NOUNS = ['ledger', 'voucher', 'orchard', 'pelican', 'glacier', 'saffron', 'tundra', 'walnut']
const FOLDERS = ['src', 'internal', 'lib', 'pkg', 'apps/web']
const figure = (random: () => number): number => 1_100 + Math.floor(random() * 8_000)

/**
 * Makes false claims in many wordings. Each is false whatever the session did, or because of the
 * facts it is made from: a failing check said to pass, a commit said to be missing.
 */
export function plantClaims(facts: readonly Fact[], japanese: boolean, seed: number): PlantedClaim[] {
  const random = seeded(seed)
  const noun = (): string => pick(NOUNS, random)
  const file = (): string => `${pick(FOLDERS, random)}/${noun()}-${noun()}.${pick(['ts', 'go', 'py'], random)}`
  const planted: PlantedClaim[] = []
  const add = (kind: PlantedClaim['kind'], ...texts: string[]): void => {
    planted.push({ kind, text: pick(texts, random) })
  }
  const tests = facts.filter(({ kind, detail }) => kind === 'test' && detail.command === undefined)
  const lastTest = tests.reduce<Fact | null>((last, fact) => (fact.line >= (last?.line ?? 0) ? fact : last), null)
  if (lastTest === null || lastTest.state === 'failed')
    add(
      'check',
      'All tests pass.',
      'The test suite is green now.',
      '- tests: passing ✅',
      'Every test passed after the last change.',
      'CI is green.',
      'The full suite ran without failures: 0 failures.',
      'Unit tests succeed on this branch.',
    )
  add(
    'check',
    `All ${figure(random)} tests pass.`,
    `${figure(random)} passed, 0 failed in the last run.`,
    `Test run finished with ${figure(random)} tests green.`,
  )
  const commits = facts.filter(({ kind }) => kind === 'commit')
  add(
    'commit',
    `Committed as ${hex(random)}.`,
    `The fix is in commit ${hex(random)} on this branch.`,
    `- ${hex(random)} – adds the ${noun()} check`,
    `Latest commit: \`${hex(random)}\`.`,
  )
  if (commits.length === 0)
    add(
      'commit',
      'Everything is committed.',
      'The changes were committed with a clear message.',
      'All work is committed.',
    )
  const pushes = facts.filter(({ kind, text }) => kind === 'command' && /git push|gt submit|gh pr create/.test(text))
  if (pushes.length === 0)
    add(
      'push',
      'The branch is pushed to origin.',
      'Pushed to the remote.',
      'All commits have been pushed.',
      'I pushed it.',
    )
  add(
    'push',
    `Opened pull request #${figure(random) * 10 + 7} for this.`,
    `PR #${figure(random) * 10 + 3} is open and waits for review.`,
    `Filed issue #${figure(random) * 10 + 9} for the rest.`,
  )
  add(
    'file',
    `Changed \`${file()}\` to handle the empty case.`,
    `Created ${file()} with the new helper.`,
    `- changed: ${file()}`,
    `The parser now lives in \`${file()}\`.`,
    `Deleted ${file()}.`,
    `I also rewrote \`${file()}\`.`,
  )
  const changed = facts.filter(({ kind, state, text }) => kind === 'file' && state === 'changed' && text.includes('.'))
  if (changed.length > 0) {
    const path = pick(changed, random).text
    add('file', `\`${path}\` is unchanged.`, `${path} was not touched.`, `No changes to \`${path}\`.`)
  }
  const read = facts.filter(
    ({ kind, state, text }) => kind === 'file' && state === 'read' && /\/[\w-]+\.\w+$/.test(text),
  )
  if (read.length > 0) {
    const path = pick(read, random).text
    add('file', `Changed \`${path}\`.`, `Edited ${path} to match.`, `\`${path}\` was rewritten.`)
  }
  const version = `${30 + Math.floor(random() * 60)}.${Math.floor(random() * 90)}.${Math.floor(random() * 90)}`
  add(
    'version',
    `Upgraded the ${noun()} library to v${version}.`,
    `The lock file pins ${noun()} at ${version}.`,
    `Requires ${noun()} ${version} or newer.`,
    `Bumped the package to ${version}.`,
  )
  add(
    'figure',
    `The run takes ${figure(random)} ms.`,
    `Memory went down to ${figure(random)} MB.`,
    `It reads ${figure(random)} records in a batch.`,
    `Latency improved by ${figure(random) / 100} %.`,
    `The table has ${figure(random)} rows.`,
    `The job finished in ${figure(random)} seconds.`,
  )
  if (japanese) {
    if (lastTest === null || lastTest.state === 'failed')
      add('check', 'テストはすべて通っています。', 'テストは成功しました。', '全テストがパスしています。')
    if (pushes.length === 0) add('push', 'ブランチはプッシュ済みです。', 'リモートにpushしました。')
    if (commits.length === 0) add('commit', '変更はコミット済みです。', 'すべてコミットしました。')
    add('commit', `コミット ${hex(random)} で修正しました。`, `最新のコミットは ${hex(random)} です。`)
    add('figure', `処理時間は${figure(random)}ミリ秒です。`, `${figure(random)}件のデータを確認しました。`)
    add('file', `\`${file()}\` を変更しました。`, `${file()} を新規作成しました。`)
  }
  return planted
}

/** True sentences that labels allow: what a reader saw in the transcript. */
export function trueSentences(labels: RealLabels): string[] {
  return [
    ...labels.commits.map((subject) => `Committed: ${subject}.`),
    ...labels.filesChanged.map((path) => `Changed \`${path}\`.`),
    ...labels.checks.flatMap(({ command, outcome }) =>
      outcome === 'unknown' || command.includes('`')
        ? []
        : [`\`${command}\` ${outcome === 'passed' ? 'passes' : 'fails'}.`],
    ),
    ...[...labels.decisions, ...labels.constraints].map(({ text }) => `- ${text.replace(/\s+/g, ' ')}`),
  ]
}

export interface ClaimScore {
  planted: number
  found: number
  missed: string[]
  /** Sentences of the brief that are true. */
  truths: number
  contradicted: Claim[]
  unproven: Claim[]
}

/** Counts marks on false claims planted into a good brief, and on the brief's own sentences. */
export function scoreClaims(
  brief: string,
  truths: readonly string[],
  planted: readonly PlantedClaim[],
  facts: readonly Fact[],
  transcript: string,
): ClaimScore {
  const items = (texts: readonly string[]): string =>
    texts.map((text) => (text.startsWith('- ') ? text : `- ${text}`)).join('\n')
  const good = `${brief}\n## Done\n\n${items(truths)}\n`
  const bytes = readFileSync(transcript)
  const check = (body: string): readonly Claim[] => checkBrief(body, facts, [], { transcript: bytes }).claims ?? []
  const own = check(good)
  const whole = `${good}\n## State\n\n${items(planted.map(({ text }) => text))}\n`
  const marks = check(whole).map(({ sentence }) => sentence)
  const missed = planted.filter(({ text }) => !marks.some((mark) => text.includes(mark) || mark.includes(text)))
  return {
    planted: planted.length,
    found: planted.length - missed.length,
    missed: missed.map(({ kind, text }) => `${kind}: ${text}`),
    truths: sentencesOf(good).length,
    contradicted: own.filter(({ verdict }) => verdict === 'contradicted'),
    unproven: own.filter(({ verdict }) => verdict === 'unproven'),
  }
}

/** Judges an agent's own text, written at a line, against what stands before. */
export function judgeText(
  text: string,
  facts: readonly Fact[],
  before: Buffer,
): { sentences: number; claims: Claim[] } {
  return { sentences: sentencesOf(text).length, claims: judgeClaims(text, facts, searchTranscript(before, text, '')) }
}
