// Measures facts, briefs, recovery and recall on real sessions that readers labelled:
// node scripts/corpus.mjs --real DIR [--json] [--misses] [--only NAME] [--facts]
// DIR holds `sessions/`, `labels/`, `probes/` and `prompt-constraints.json`. Nothing is written to
// it.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Measures a folder and prints the result as tables or JSON. */
export async function measureReal(folder, { json, misses, only, facts }, program) {
  const sessions = program.readRealSessions(folder).filter(({ name }) => only === undefined || name.includes(only))
  if (sessions.length === 0) throw new Error(`${folder}/labels has no labelled session${only ? ` named ${only}` : ''}.`)
  const files = program.readSessionFiles(folder)
  const report = {
    sessions: sessions.length,
    transcripts: files.length,
    reading: facts ? null : measureReading(files, program),
    ...measureLabels(sessions, program, misses),
    prompts: measurePrompts(folder, program, misses),
    probes: facts ? null : measureProbes(sessions, program, misses),
    calibration: facts ? null : measureCalibration(sessions, program),
    losses: facts ? null : measureLosses(files, program),
    claims: facts ? null : measureClaims(sessions, files, program, misses),
  }
  if (json) console.log(JSON.stringify(report, null, 2))
  else print(report)
}

/** Reads every transcript and counts lines that could not be read. */
function measureReading(files, { textsOf }) {
  const started = performance.now()
  const troubles = []
  for (const file of files) {
    try {
      textsOf(file, null)
    } catch (error) {
      troubles.push({ file: basename(file), reason: String(error) })
    }
  }
  return { files: files.length, troubles, seconds: Math.round(performance.now() - started) / 1000 }
}

function measureLabels(sessions, program, misses) {
  const { scoreLabels, scoreFiles, scoreTexts, scoreChecks, decisionGroup, itemsOf, isLastRequestRight, share, sum } =
    program
  const scored = sessions.map((session) => {
    const { labels } = session
    const { facts } = program.textsOf(session.file, session.boundary).end
    const items = itemsOf(facts)
    const one = {
      session,
      constraints: scoreLabels(items.constraints, labels.constraints),
      decisions: scoreLabels(items.decisions, labels.decisions),
      groups: Object.fromEntries(
        ['user', 'dialog or plan', 'agent'].map((group) => [
          group,
          scoreLabels(
            items.decisions,
            labels.decisions.filter((label) => decisionGroup(label) === group),
          ),
        ]),
      ),
      questions: scoreLabels(items.questionsOpen, labels.questionsOpen),
      files: scoreFiles(items.filesChanged, labels.filesChanged),
      commits: scoreTexts(items.commits, labels.commits),
      todos: scoreTexts(items.todosOpen, labels.todosOpen),
      checks: scoreChecks(facts, labels.checks),
      last: isLastRequestRight(items.lastRequest, labels),
      lastTold: items.lastRequest,
    }
    if (misses) listMisses(one)
    return one
  })
  const table = (name, pick, among = scored) => ({
    kind: name,
    recall: sum(among.map((one) => pick(one).recall)),
    precision: pick(scored[0]).precision ? sum(among.map((one) => pick(one).precision)) : null,
  })
  const byLanguage = (name, pick) =>
    [...new Set(scored.map(({ session }) => session.labels.language))].sort().map((language) =>
      table(
        `${name}, ${language}`,
        pick,
        scored.filter(({ session }) => session.labels.language === language),
      ),
    )
  const group = (name) => (one) => ({ recall: one.groups[name].recall, precision: null })
  return {
    kinds: [
      table('constraints', (one) => one.constraints),
      ...byLanguage('constraints', (one) => one.constraints),
      table('decisions', (one) => one.decisions),
      ...byLanguage('decisions', (one) => one.decisions),
      { ...table('decisions by the user', group('user')), precision: null },
      { ...table('dialog answers and plans', group('dialog or plan')), precision: null },
      { ...table('decisions by the agent', group('agent')), precision: null },
      table('open questions', (one) => one.questions),
      table('files changed', (one) => one.files),
      table('commits', (one) => one.commits),
      table('open todos', (one) => one.todos),
    ],
    last_request: share(scored.filter(({ last }) => last).length, scored.length),
    checks: {
      right: sum(scored.map(({ checks }) => checks.right)),
      failed_reported_as_passed: scored.flatMap(({ checks }) => checks.failedToldPassed).length,
      passed_reported_as_failed: scored.flatMap(({ checks }) => checks.passedToldFailed).length,
    },
  }
}

/** Scores the constraints found in single prompts. */
function measurePrompts(folder, { readPromptCases, textsOf, matches, share }, misses) {
  const cases = readPromptCases(folder)
  const facts = new Map()
  let wanted = 0
  let found = 0
  let told = 0
  let right = 0
  for (const { file, line, constraints } of cases) {
    if (!facts.has(file)) facts.set(file, textsOf(file, null).end.facts)
    const own = facts
      .get(file)
      .filter((fact) => fact.kind === 'constraint' && fact.line === line)
      .map(({ text }) => text)
    wanted += constraints.length
    found += constraints.filter((known) => own.some((text) => matches(text, known))).length
    told += own.length
    const wrong = own.filter((text) => !constraints.some((known) => matches(text, known)))
    right += own.length - wrong.length
    if (misses) for (const text of wrong) console.log(`prompt ${basename(file)}:${line}: wrong constraint: ${text}`)
  }
  return { cases: cases.length, recall: share(found, wanted), precision: share(right, told) }
}

function measureProbes(sessions, program, misses) {
  const { textsOf, scoreProbes, scoreLosses, answers, sum } = program
  const arms = { 'brief at the boundary': [], 'brief at the end': [], 'native summary': [], recovery: [] }
  arms['summary + recovery'] = []
  const lengths = {}
  const losses = { named: 0, real: 0, unreal: 0 }
  for (const { name, file, labels, boundary, probes } of sessions) {
    if (probes.length === 0) continue
    const texts = textsOf(file, boundary)
    const add = (arm, text) => {
      if (text === null) return
      arms[arm].push(scoreProbes(text, probes))
      lengths[arm] = [...(lengths[arm] ?? []), text.length]
      if (misses && arm.startsWith('brief at the end'))
        for (const probe of probes)
          if (!answers(text, probe))
            console.log(`${name}: ${arm}: unanswered: ${probe.question} (${probe.answers.join(' | ')})`)
    }
    add('brief at the boundary', texts.briefAtBoundary)
    add('brief at the end', texts.briefAtEnd)
    add('native summary', texts.summary)
    add('recovery', texts.recovery)
    add('summary + recovery', texts.summary === null ? null : `${texts.summary}\n${texts.recovery}`)
    if (texts.summary === null) continue
    const score = scoreLosses(texts.lost, labels, texts.summary, boundary)
    for (const key of Object.keys(losses)) losses[key] += score[key]
  }
  const recalled = measureRecall(sessions, program)
  return {
    arms: [
      ...Object.entries(arms).map(([arm, shares]) => ({
        arm,
        probes: sum(shares),
        characters: mean(lengths[arm] ?? []),
        longest: Math.max(0, ...(lengths[arm] ?? [])),
      })),
      {
        arm: 'recall, first 5',
        probes: sum(recalled.shares),
        characters: mean(recalled.lengths),
        longest: Math.max(0, ...recalled.lengths),
      },
    ],
    losses,
  }
}

/**
 * Plants false claims into good briefs, and counts marks on them and on true sentences: those of
 * the brief, those that labels allow, and those of the summaries that agents wrote.
 */
function measureClaims(sessions, files, program) {
  const { textsOf, plantClaims, trueSentences, scoreClaims, judgeText, share } = program
  const count = { planted: 0, found: 0, truths: 0, contradicted: 0, unproven: 0 }
  for (const [at, { file, labels }] of sessions.entries()) {
    const { end, briefAtEnd } = textsOf(file, null)
    const planted = plantClaims(end.facts, labels.language === 'ja', at + 1)
    const score = scoreClaims(briefAtEnd, trueSentences(labels), planted, end.facts, file)
    count.planted += score.planted
    count.found += score.found
    count.truths += score.truths
    count.contradicted += score.contradicted.length
    count.unproven += score.unproven.length
  }
  const summaries = { sentences: 0, contradicted: 0, unproven: 0 }
  for (const file of files) {
    for (const { line, text } of program.summariesOf(file)) {
      const { sentences, claims } = judgeText(
        text,
        program.factsUpTo(file, line).facts,
        program.bytesBefore(file, line),
      )
      summaries.sentences += sentences
      for (const { verdict } of claims) summaries[verdict]++
    }
  }
  return {
    planted_marked: share(count.found, count.planted),
    true_marked_contradicted: share(count.contradicted, count.truths),
    true_marked_unproven: share(count.unproven, count.truths),
    summaries_marked_contradicted: share(summaries.contradicted, summaries.sentences),
    summaries_marked_unproven: share(summaries.unproven, summaries.sentences),
  }
}

/** Counts named losses that are real at all compactions, by a plain search for their words. */
function measureLosses(files, { summariesOf, lossesAt, scoreNamedLosses, sum }) {
  const shares = files.flatMap((file) =>
    summariesOf(file).flatMap((summary) => {
      const { lost, remaining } = lossesAt(file, summary)
      return scoreNamedLosses(lost, remaining)
    }),
  )
  const kinds = [...new Set(shares.map(({ kind }) => kind))].sort()
  const of = (kind) => sum(shares.flatMap((one) => (kind === null || one.kind === kind ? [one.share] : [])))
  return { all: of(null), by_kind: Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) }
}

/** Compares the coverage of texts of varying quality with the share of probes that they answer. */
function measureCalibration(sessions, { rateTexts, rankCorrelation }) {
  const rated = sessions.map((session) => rateTexts(session).map(({ coverage, probes }) => [coverage, probes]))
  const single = rated.map(rankCorrelation).filter((one) => one !== null)
  return {
    texts: rated.flat().length,
    sessions: single.length,
    correlation: rankCorrelation(rated.flat()),
    mean_in_session: single.length === 0 ? null : single.reduce((sum, one) => sum + one, 0) / single.length,
  }
}

/**
 * Asks the built program, in a home of its own, each probe's question in its own words. Counts what
 * `baton recall` prints by default, as an agent reads it.
 */
function measureRecall(sessions, { share, answers, root }) {
  const home = mkdtempSync(join(tmpdir(), 'baton-recall-'))
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    BATON_HOME: join(home, 'baton'),
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
  }
  const baton = (...words) =>
    execFileSync(process.execPath, [join(root, 'dist', 'baton.mjs'), ...words], {
      env,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
  const lengths = []
  try {
    const shares = sessions
      .filter(({ probes }) => probes.length > 0)
      .map((session, i) => {
        const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
        const projects = join(home, '.claude', 'projects', `-project-${i}`)
        mkdirSync(projects, { recursive: true })
        copyFileSync(session.file, join(projects, `${id}.jsonl`))
        baton('import', '--headless')
        const shown = session.probes.map((probe) => baton('recall', '--session', id, '--', probe.question))
        lengths.push(...shown.map(({ length }) => length))
        const found = session.probes.filter((probe, at) => answers(shown[at], probe))
        return share(found.length, session.probes.length)
      })
    return { shares, lengths }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const mean = (numbers) =>
  numbers.length === 0 ? null : Math.round(numbers.reduce((sum, one) => sum + one, 0) / numbers.length)

function listMisses({ session, constraints, decisions, questions, files, checks, last, lastTold }) {
  const { name, labels } = session
  for (const { text, line } of constraints.missed) console.log(`${name}: missed constraint (${line}): ${text}`)
  for (const text of constraints.wrong) console.log(`${name}: wrong constraint: ${text}`)
  for (const { text, line, by, how } of decisions.missed)
    console.log(`${name}: missed decision (${line}, ${by}, ${how ?? '–'}): ${text}`)
  for (const text of decisions.wrong) console.log(`${name}: wrong decision: ${text}`)
  for (const { text, line } of questions.missed) console.log(`${name}: missed question (${line}): ${text}`)
  for (const text of questions.wrong) console.log(`${name}: wrong question: ${text}`)
  for (const text of files.wrong) console.log(`${name}: wrong file: ${text}`)
  for (const { command, line } of checks.failedToldPassed)
    console.log(`${name}: failed check told as passed (${line}): ${command}`)
  if (!last)
    console.log(`${name}: last request: ${JSON.stringify(lastTold)} instead of ${JSON.stringify(labels.lastRequest)}`)
}

const percent = (value) => (value === null ? '–' : value.toFixed(2))
const shareText = ({ found, of, share, low, high }) =>
  of === 0 ? '–' : `${percent(share)} (${found} of ${of}; ${percent(low)} to ${percent(high)})`

function print({
  sessions,
  transcripts,
  reading,
  kinds,
  last_request,
  checks,
  prompts,
  probes,
  calibration,
  losses,
  claims,
}) {
  console.log(`${sessions} labelled sessions of ${transcripts}; shares with n and 95 % interval\n`)
  console.log(`${'kind'.padEnd(28)}${'recall'.padEnd(40)}precision`)
  for (const { kind, recall, precision } of kinds)
    console.log(`${kind.padEnd(28)}${shareText(recall).padEnd(40)}${precision === null ? '' : shareText(precision)}`)
  console.log(`\nlast request right          ${shareText(last_request)}`)
  console.log(`checks right                ${shareText(checks.right)}`)
  console.log(`failed reported as passed   ${checks.failed_reported_as_passed}`)
  console.log(`passed reported as failed   ${checks.passed_reported_as_failed}`)
  console.log(
    `constraints of ${prompts.cases} prompts   ${shareText(prompts.recall).padEnd(40)}${shareText(prompts.precision)}`,
  )
  if (probes === null) return
  console.log(`\n${'text'.padEnd(28)}${'probes answered'.padEnd(40)}characters (longest)`)
  for (const { arm, probes: answered, characters, longest } of probes.arms)
    console.log(
      `${arm.padEnd(28)}${shareText(answered).padEnd(40)}${characters === null ? '' : `${characters} (${longest})`}`,
    )
  const { named, real, unreal } = probes.losses
  console.log(
    `\nlosses named ${named}: ${real} confirmed by a label, ${unreal} contradicted, ` +
      `${named - real - unreal} without a label`,
  )
  const { texts, correlation, mean_in_session: inSession } = calibration
  console.log(
    `coverage and probes         rank correlation ${percent(correlation)} over ${texts} texts, ` +
      `${percent(inSession)} within a session (mean of ${calibration.sessions})`,
  )
  console.log(`losses that are real        ${shareText(losses.all)}`)
  for (const [kind, one] of Object.entries(losses.by_kind)) console.log(`  ${kind.padEnd(26)}${shareText(one)}`)
  console.log(`\nfalse claims marked         ${shareText(claims.planted_marked)}`)
  console.log(`true, marked contradicted   ${shareText(claims.true_marked_contradicted)}`)
  console.log(`true, marked unproven       ${shareText(claims.true_marked_unproven)}`)
  console.log(`summaries, contradicted     ${shareText(claims.summaries_marked_contradicted)}`)
  console.log(`summaries, unproven         ${shareText(claims.summaries_marked_unproven)}`)
  console.log(`transcripts read in ${reading.seconds} s; ${reading.troubles.length} not readable`)
  for (const { file, reason } of reading.troubles) console.log(`  ${file}: ${reason}`)
}
