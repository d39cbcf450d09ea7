import type { Demand } from './constraint-english.js'

/**
 * A form in which people state a rule.
 * Each form lists sentences that it must recognise and sentences that it must not.
 * The test `constraint-table.test.ts` runs all these sentences.
 */
export interface ConstraintForm {
  demand: Demand
  pattern: RegExp
  examples: readonly string[]
  counterexamples: readonly string[]
}

/** Forms in which English speakers state a rule. Measured on real sessions. */
export const ENGLISH_FORMS: readonly ConstraintForm[] = [
  {
    demand: 'forbidden',
    pattern: /\b(?:better|best|rather) not to\b/i,
    examples: ['It is better not to keep tokens in the log.'],
    counterexamples: ['The second one is better.'],
  },
  {
    demand: 'forbidden',
    pattern: /\bso (?:that )?(?:we|you|it|they) (?:don't|dont|do not|won't|never) \w+/i,
    examples: ['Look at the coverage so we dont break the export.'],
    counterexamples: ['So we see it every time.'],
  },
  {
    demand: 'forbidden',
    pattern: /\byou (?:don't|dont|do not|won't) have (?:access|permission|rights)\b/i,
    examples: ['You dont have access to the cluster here.'],
    counterexamples: ['You have access to the cluster.'],
  },
  {
    demand: 'forbidden',
    pattern: new RegExp(
      String.raw`^(?:(?:ok|okay|please|and|also|but)[, ]+)*ignore (?!case\b)\w+|\b(?:leave|` +
        String.raw`skip) (?:the )?(?:others?|rest)\b|\bexcept (?:for )?\w+`,
      'i',
    ),
    examples: [
      'Ignore the missing icons.',
      'Rename this one, leave the others.',
      'Fix them all except for the parser.',
    ],
    counterexamples: ['The tool ignores hidden files.', 'It throws an exception.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:we|you|it|they|this|that|users?|there) should (?!(?:be (?:able|fine|ok|okay|good|` +
        String.raw`enough|there|done)|work|have been|have (?:seen|worked)|see|know|help|do it)\b)(?:\w+)`,
      'i',
    ),
    examples: ['If the name is missing we should just show a dash.', 'They should keep the old order.'],
    counterexamples: ['That should work now.', 'It should be fine.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\bwe (?:really |still |also )?want to (?!(?:see|know|check|look|understand|discuss|find|` +
        String.raw`talk|try|work on)\b)\w+`,
      'i',
    ),
    examples: ['In this folder we want to commit the generated files.'],
    counterexamples: ['We want to see what happens.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\bi want (?:it|this|that|them|the [\w ]{2,30}|all [\w ]{2,30}) (?:to (?:be|stay|remain|` +
        String.raw`keep|have)\b|\w+ed\b|kept\b|left\b)`,
      'i',
    ),
    examples: ['I want the arguments retained.'],
    counterexamples: ['I want the report.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:write|add|run|do|fix|rebase|test|start with|finish|commit|update|` +
        String.raw`read)\b.{0,60}\bfirst[.!]?$|\bbefore (?:we|you) (?:start|begin|continue|move|merge|` +
        String.raw`commit|push|proceed|go)\b`,
      'i',
    ),
    examples: ['Write the failing case first.', 'Rebase onto trunk before we start.'],
    counterexamples: ['The first one fails.', 'It ran before.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:directive|principle|priority|guideline|policy|aim) is\b|\beverything else (?:is|` +
        String.raw`comes) (?:secondary|later|second|after)\b|\b(?:main|most important|top) (?:thing|` +
        String.raw`priority|goal) is\b`,
      'i',
    ),
    examples: ['The top priority is to stay out of the way.', 'Everything else is secondary.'],
    counterexamples: ['The main file is large.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:minimal|minimum|smallest|fewest|as few|as small) (?:possible |` +
        String.raw`number of )?(?:set of )?(?:modifications?|changes?|diff|edits?|code)\b|\bas (?:few|` +
        String.raw`little|small) (?:\w+ )?as possible\b`,
      'i',
    ),
    examples: ['Make minimal changes.', 'Touch as few files as possible.'],
    counterexamples: ['The changes are small.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`(?<![\w)\x60])(?!(?:i|we|you) )[\w)\x60]{1,60} needs? to (?!(?:know|see|understand|look|check|` +
        String.raw`be (?:fixed|updated|done|investigated))\b)\w+`,
      'i',
    ),
    examples: ['The change from open to closed needs to flush the buffer.'],
    counterexamples: ['He needs to know why.'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\blet (?:the|this|that|those|each) [\w ]{1,40}\bbe\b|\b(?:works?|behaves?|` +
        String.raw`stays?) (?:exactly |just )?(?:as|like) (?:before|it (?:does|did|was|is))\b`,
      'i',
    ),
    examples: [
      'Let the schema changes be a step of their own.',
      'The plain call just works as before: it stays as it was.',
    ],
    counterexamples: ['Let me see.'],
  },
  {
    demand: 'required',
    pattern: /\bi(?:'|’)?ll (?:then )?(?:instruct|tell you|let you know|decide)\b/i,
    examples: ['Update the page, then I’ll tell you what is next.'],
    counterexamples: ["I'll be back."],
  },
  {
    demand: 'required',
    pattern: /\b(?:just|only) (?:\w+ ){1,8}(?:and|but|then) (?:leave|drop|keep|skip|ignore)\b/i,
    examples: ['Just define the list there and drop the second one.'],
    counterexamples: ['It just stops.'],
  },
  {
    // How a thing must behave, or what it must have.
    demand: 'required',
    pattern: new RegExp(
      String.raw`\bi (?:do |really |also |still )?want (?:it|this|that|them|these|the \w+|` +
        String.raw`[\w\x60.]+ \w+)(?: \w+){0,3} to ` +
        String.raw`(?:be|behave|look|work|stay|return|show|print|use|have|keep|accept|support)\b|\b(?!(?:i|we|you|` +
        'this|that|it|' +
        String.raw`he|she|they|who|what) )[\w)\x60]{3,60} (?:must|should) (?:also |only |always |` +
        'never )?(?:capture|contain|' +
        'include|cover|accept|return|show|print|support|be (?:configurable|optional|generic|idempotent|stable|' +
        String.raw`consistent|sorted|unique))\b`,
      'i',
    ),
    examples: ['I want this page to behave like the old one', 'Errors should include the path.'],
    counterexamples: ['I want to see it.', 'What should it return?'],
  },
  {
    // A wish for the result.
    demand: 'required',
    pattern: new RegExp(
      String.raw`^(?:but |and |so )?ideally\b.{8,}|\bi want to (?:replace|keep|use|avoid|support|separate|` +
        String.raw`store|limit|preserve|retain)\b`,
      'i',
    ),
    examples: ['Ideally we would see all rows in that view', 'I want to replace the poller with events'],
    counterexamples: ['I would have expected more rows.', 'The ideal is far away.', 'I want to know why.'],
  },
  {
    // Parts that the result has or lacks.
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:let'?s|we (?:can|could|should)) (?:also |just |only |then |probably |maybe |` +
        'still )*(?:drop|omit|hide|limit|' +
        'cap|restrict|exclude|stick (?:to|with)|stay with|start with (?=the|all|just|only)|' +
        String.raw`keep (?!going|on\b|at it)|leave out|mark|only)\b|\blet'?s (?:also )?add an? .{3,60}` +
        String.raw`\b(?:field|flag|option|column|parameter|setting|key)\b|\blet'?s go (?:with )?\d+\b`,
      'i',
    ),
    examples: [
      "let's drop the prefix of each row",
      'we can also hide the empty ones',
      "let's start with the names only",
      "let's go 40",
      "let's also add an optional field for the colour",
    ],
    counterexamples: ["let's go", "let's keep going", 'We could see it.', "let's look at the rows"],
  },
  {
    // A default.
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:but|be|(?:keep|make|leave) (?:it|this|that)) (?:enabled|disabled|on|off|hidden|visible|` +
        String.raw`empty|opt-in|opt-out) by default\b`,
      'i',
    ),
    examples: ['the second one, but hidden by default', 'It should be off by default.'],
    counterexamples: ['Is it on by default?', 'The default is empty.'],
  },
  {
    // A manner of working: "carefully noting each step in the file".
    demand: 'required',
    pattern: new RegExp(
      String.raw`(?:,|\band) (?:always |carefully |also )?(?:making sure|ensuring|being careful|taking care|` +
        String.raw`carefully \w{1,30}ing|keeping (?:a|the|track))\b`,
      'i',
    ),
    examples: ['go on with the list, carefully noting each step in the log', 'merge them, making sure the order stays'],
    counterexamples: ['it prints a line, writing the name twice'],
  },
  {
    // A part that the result needs.
    demand: 'required',
    pattern: new RegExp(
      String.raw`^(?:[\w\x60.]{1,60} ){1,3}needs (?!to\b|(?:fixing|work|help|attention|an? (?:look|fix))\b)` +
        String.raw`(?:a |an |the )?\w+(?: \w+){1,5}$`,
      'i',
    ),
    examples: ['Report needs page number links'],
    counterexamples: ['The parser needs work', 'It needs to run.'],
  },
  {
    // An order in capitals.
    demand: 'required',
    pattern: /\b(?:WRITE|ADD|RUN|KEEP|USE|DO NOT|DON'T|NEVER|ALWAYS) [A-Z]{3,}\b/,
    examples: ['can we split it? - also WRITE DOCS'],
    counterexamples: ['write docs', 'RUN failed'],
  },
  {
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:as|in) (?:a|its own|another) separate (?:pr|branch|commit|issue)\b|\bdont forget\b|` +
        String.raw`^(?:[A-D1-9][.)]? )?(?:just|only) (?!\w+ing\b)[\w -]{3,60} for now\b`,
      'i',
    ),
    examples: ["let's do the move in a separate commit", 'dont forget the lock', 'B. just the nightly job for now'],
    counterexamples: ["let's just fix it for now", 'A separate commit broke it.', 'It just stops.'],
  },
  {
    demand: 'forbidden',
    pattern: /\b(?:would )?(?:much )?prefer not to\b|\bwould rather not\b/i,
    examples: ['We wiped the cache and would prefer not to do it again.'],
    counterexamples: ['I prefer the second.'],
  },
  {
    // A wish for a change of behaviour.
    demand: 'required',
    pattern: new RegExp(
      String.raw`\bi(?:'d| would) like (?:(?:us|it|this|that|them|the \w+) )?to (?:change|show|have|be|use|keep|` +
        'avoid|limit|' +
        String.raw`replace|print|support|accept|store|return) (?!a look\b|a go\b)\S.{10,}`,
      'i',
    ),
    examples: ["I'd like to change this so the list is sorted", "I'd like us to show more rows per page"],
    counterexamples: ["I'd like to have a look at it later", "I'd like to work on the list"],
  },
  {
    // A way that the user rejects.
    demand: 'forbidden',
    pattern: new RegExp(
      String.raw`\bi (?:don't|dont|do not) think (?:\w+ ){1,8}(?:is|are) (?:a |the )?(?:good|right|great|needed|` +
        'necessary|' +
        String.raw`worth|wise|useful)\b`,
      'i',
    ),
    examples: ["I don't think keeping it in one table is a good idea"],
    counterexamples: ["I don't think it is Monday."],
  },
  {
    // A quality or a manner of the result.
    demand: 'required',
    pattern: new RegExp(
      String.raw`\b(?:i|we) want (?:full|real|proper|clean|simple|separate|consistent|strict|minimal|explicit|` +
        'stable|' +
        String.raw`deterministic) \w+|^(?:run|test|build|implement|call|write|generate) \w.{3,80}\bby \w{2,30}ing\b`,
      'i',
    ),
    examples: ['I want real requests in this suite', 'run the cases by starting the small server directly'],
    counterexamples: ['I want a report.', 'It runs by default.'],
  },
]
