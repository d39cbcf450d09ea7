export type Demand = 'required' | 'forbidden'

/**
 * Returns whether an English sentence of the user is a rule for the work. Null when it is not.
 * Orders are recognised at the start of a clause, because the same words describe faults elsewhere:
 * "don't cache it" forbids, "the tests don't pass" does not.
 */
export function englishDemand(sentence: string, question: boolean): Demand | null {
  const straight = sentence.replace(/[’‘]/g, "'")
  const plain = /[*_]/.test(straight) ? straight.replace(/[*_]+(?=\S)|(?<=\S)[*_]+/g, '') : straight
  if (!QUICK_FILTER.test(plain)) return null
  if (question && !POLITE.test(plain)) return null
  const words = plain.replace(POLITE, '')
  if (ABOUT_THE_PAST.test(words) && !STRONG.test(words)) return null
  const starts = clauseStarts(words)
  if (beginsClause(FORBIDDING, words, starts) || FORBIDS.some((holds) => holds(words))) return 'forbidden'
  if (beginsClause(REQUIRING, words, starts) || REQUIRES.some((holds) => holds(words))) return 'required'
  return null
}

/** Quick filter: every rule contains one of these words, and most sentences contain none. */
const QUICK_FILTER = new RegExp(
  String.raw`\b(?:not|cannot|\w+n't|dont|cant|mustnt|shouldnt|never|no|nobody|none|nothing|without|avoid\w*|` +
    'leave|keep|off|limits|forbidden|prohibited|taboo|banned|frozen|untouchable|sacred|scope|away|stay|' +
    'out|steer|refrain|stop|quit|skip|rather|unwanted|undesirable|unacceptable|disallowed|must|has|have|' +
    'shall|needs?|required|mandatory|obligatory|should|ought|always|sure|ensure|careful|take|see|' +
    'remember|forget|mind|only|solely|exclusively|strictly|stick|adhere|comply|conform|follow|respect|' +
    'preserve|maintain|retain|honou?r|limit|restrict|prefer|match|just|use|work|do|commit|develop|put|' +
    'ask|check|tell|show|wait|warn|ping|consult|before|now|forward|future|times|every|circumstances|' +
    'exception|most|least|than|max(?:imum)?|up|under|below|within|less|fewer|rules?|constraints?|' +
    'requirements?|conventions?|polic(?:y|ies)|conditions?|restrictions?|limitations?|style|insist|' +
    String.raw`require|demand|expect|want|compatib\w*|\w+wards?|exactly|verbatim|word|byte|letter|important|` +
    'crucial|essential|vital|critical|imperative|key|each|all|any|budget|deadline|ceiling|cap|minimum|' +
    'names?|comments?|commits?|variables?|docs?|documentation|tests?|identifiers?|messages?|errors?|' +
    'logs?|files?|headings?|dates?|prices?|amounts?|answer|reply|respond|write|document|report|speak|' +
    'talk|summari[sz]e|implement|make|solve|ship|deliver|split|treat|belongs?|run|add|start|fix|first|' +
    String.raw`hold|postpone|possible|one|let|everything|in|non-negotiable|read-only)\b`,
  'i',
)

const POLITE = new RegExp(
  '^(?:(?:and|so|ok|okay|also|but|then|please)[, ]+)*(?:(?:can|could|would|will) you (?:please )?|' +
    '(?:can|could|should) we (?:please |also |maybe )*(?=(?:stick|stay|keep|retain|preserve|maintain|limit|' +
    String.raw`restrict|avoid|make sure|ensure|leave|only|always|never|not)\b)|any chance (?:we|you) can )`,
  'i',
)
/** Descriptions of the past, which are no orders. */
const ABOUT_THE_PAST = new RegExp(
  '^(?:(?:i|we|he|she|they|it|that|this|you) (?:was|were|had|have(?! to)|has(?! to)|did|tried|thought|' +
    String.raw`saw|noticed|forgot|used)\b|yesterday|last (?:week|time|month)|the (?:build|test|tests|ci|server|` +
    String.raw`page|app|log|logs|error|bug)\b[^,;:]{0,30}\b(?:fails?|failed|says?|said|shows?|crash\w*|never|` +
    String.raw`always|only|still)\b)`,
  'i',
)
const STRONG = /\b(?:must|please|make sure|from now on|do not|don't|never)\b/i

/** Separators after which a new clause begins. */
const BEFORE_A_CLAUSE = new RegExp(
  String.raw`[,;:(—–]\s*|\s-+\s|\b(?:and|but|so|then|please|pls|also|just|or|however|again|ok|okay|yes|yep|` +
    'remember|note|important|still|first|therefore|hence|by the way|btw|though|to be clear|in any case|' +
    String.raw`whatever you do|if possible|for now|for that|there|here)[,:]?\s+`,
  'gi',
)

function clauseStarts(words: string): number[] {
  const starts = [0]
  BEFORE_A_CLAUSE.lastIndex = 0
  for (let found = BEFORE_A_CLAUSE.exec(words); found !== null; found = BEFORE_A_CLAUSE.exec(words)) {
    starts.push(found.index + found[0].length)
    // Separators may overlap, as in "but - no".
    BEFORE_A_CLAUSE.lastIndex = found.index + 1
  }
  return starts
}

/** Returns true when one of the orders begins at the start of a clause. */
function beginsClause(orders: RegExp, words: string, starts: readonly number[]): boolean {
  return starts.some((start) => {
    orders.lastIndex = start
    return orders.test(words)
  })
}

const orders = (...sources: string[]): RegExp => new RegExp(sources.join('|'), 'iy')

type Rule = (words: string) => boolean

const matching =
  (pattern: RegExp): Rule =>
  (words) =>
    pattern.test(words)

/** Runs an expensive pattern only when a cheap one matches. */
const matchingBoth =
  (cheap: RegExp, pattern: RegExp): Rule =>
  (words) =>
    cheap.test(words) && pattern.test(words)

/** Matches `pattern`, unless a verb before `not` shows that the sentence describes a behaviour. */
const unlessDescribed =
  (pattern: RegExp, verbs: RegExp, not: RegExp): Rule =>
  (words) => {
    if (!pattern.test(words)) return false
    const verb = words.search(verbs)
    return verb < 0 || ![...words.matchAll(not)].some(({ index }) => index > verb)
  }

const TOUCHING =
  'touch|chang|break|add|us|modif|edit|remov|delet|renam|mov|install|introduc|alter|rewrit|refactor|reformat|bump|' +
  'upgrad|updat|pull|requir|call|restart|rebuild|drop|los|merg|commit|push|ask|creat|depend|import|disturb|affect|' +
  'block|increas|slow|writ'

const FORBIDDING = orders(
  "(?:do not|don't|dont|do n't)(?: (?:you|ever|even|just|actually))? " +
    '(?!worry|know|mind|hesitate|think|care|remember|understand|see|forget|have|need|believe|get why|bother me)\\w',
  'never (?!mind|again did|worked|got|seen|heard|works?\\b|finish|end|return|complete|load|ran)\\w',
  '(?:absolutely |definitely |there (?:must|should|may|can) be |with |strictly |again )?no ' +
    '(?!one\\b|idea\\b|problem|worries|longer\\b|need\\b|way\\b|matter\\b|doubt|rush|thanks|hurry|sense|luck|i\\b|' +
    "it\\b|it's|that\\b|that's|you\\b|we\\b|wait|the\\b|this\\b|they\\b|clue|wonder|big deal|results?\\b|errors? " +
    "(?:in|are|were|is)|such\\b|output\\b)[\\w`.'/-]+(?: [\\w`.'/()-]+){0,7}(?:[.,;!)]|$)",
  '(?:stop|quit) (?!the\\b|and\\b|here\\b|it\\b|there\\b)\\w+ing\\b',
  "(?:let's|let us|please|but|and) not \\w",
  '(?:hold off|wait with|postpone|put off|do not,|don.t,)\\b',
  '(?:do|write|implement|solve|make|build|get|finish|fix)\\b[^.;,]{0,40}\\bwithout ' +
    '(?!success|problems?|errors?|issues?|luck|me\\b)[\\w`-]+',
  'skip (?:the|all|any|every)\\b',
)

const FORBIDS: Rule[] = [
  matching(
    new RegExp(
      String.raw`\b(?:must|should|shall|may|can|will|to|you|we|please|ever|ought to|and|but|` +
        String.raw`or) never\b(?! (?:mind|worked|got|seen))`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:must not|mustn't|mustnt|should not|shouldn't|shouldnt|shall not|shan't|may not|ought not|` +
        String.raw`had better not)\b(?! have been| be (?:hard|difficult|a problem|too|possible|necessary))`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:we|you) (?:can't|cannot|can not|cant) (?!reproduce|find|see|tell|figure|get|log|connect|` +
        'reach|open|build|run|explain|say|remember|believe|wait|imagine|access|start|even|know|understand|' +
        String.raw`seem|really|be sure|think|recall|load|read\b|parse|resolve|deploy right)\w`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:can't|cannot|can not|must not|may not|are not to|is not to|isn't to|aren't to|` +
        'not to) be (?:changed|touched|modified|moved|broken|removed|renamed|used|deleted|edited|altered|' +
        'altered|exceeded|shared|committed|pushed|logged|cached|rounded|counted|restarted|upgraded)',
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:i|we) (?:do not|don't|dont|really don't|absolutely don't) (?:want|allow|support|accept|use|` +
        String.raw`tolerate|commit|push|deploy|ship|like|do|add|touch|write|mock)\b(?! to (?:know|miss|sound|` +
        'be rude))',
      'i',
    ),
  ),
  matching(
    /\b(?:i'd|i would|we'd|we would) (?:rather|prefer)(?: that)?(?: you| we| it)? (?:not|no|didn't|don't|without)\b/i,
  ),
  matching(/\b(?<!to )avoid(?:ing)?\b(?! (?:this|that|it) (?:happening|again))/i),
  matching(/\b(?:try|please|want|like|need|careful|important|have) to avoid\b/i),
  matching(new RegExp(`\\bwithout (?:ever |actually |also )?(?:${TOUCHING})\\w*ing\\b`, 'i')),
  matching(
    new RegExp(
      String.raw`\bwithout (?:any |a |an )?(?:new|extra|additional|breaking|external|third|further|my (?:ok|okay|` +
        String.raw`approval|permission|consent)|asking|changes? to|downtime|adding)\b`,
      'i',
    ),
  ),
  matchingBoth(
    /\b(?:alone|as[- ]|un|intact|out of)/i,
    new RegExp(
      String.raw`\b(?:leave|keep)\b.{1,80}\b(?:alone|as[- ](?:it |they )?(?:is|are|was|were)|untouched|unchanged|` +
        String.raw`intact|out of (?:it|this|the|scope))\b`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:off[- ]limits|off the table|not (?:allowed|permitted|acceptable|an option|negotiable|ok to|` +
        'okay to|to touch|to be touched)|forbidden|prohibited|taboo|a no[- ]go|no[- ]go|out of scope|' +
        'out of bounds|hands off|stay away from|keep away from|keep your hands off|stay out of|' +
        String.raw`steer clear|refrain from|banned|disallowed|verboten|read[- ]only for you|non-negotiable)\b`,
      'i',
    ),
  ),
  matching(/\b(?:try|careful|want you|asked you|told you|remember|sure|prefer|mindful|like you) not to\b/i),
  matching(/\bnothing (?:newer|else|outside|beyond|more|in|under|may|should|must|can|gets?|is to|that|from)\b/i),
  matching(
    new RegExp(
      String.raw`\b(?:under no circumstances|in no case|by no means|on no account|not? ever|not welcome|unwanted|` +
        String.raw`undesirable|unacceptable)\b`,
      'i',
    ),
  ),
  matching(/\b(?:nobody|no one|none of)\b.{0,40}\b(?:may|can|should|must|is allowed|are allowed)\b/i),
  matching(/\bunder any circumstances\b/i),
  matching(/\bnothing (?:risky|fancy|new|clever|async|experimental|exotic|breaking|big|special)\b/i),
  matching(/\bnot (?:a single|one single|even a)\b/i),
  unlessDescribed(
    new RegExp(
      String.raw`(?:^|[,;:(] ?|\b(?:but|and|please) )not (?:in|on|with|via|through|before|until|yet|the|a|an|` +
        String.raw`by)\b(?! (?:sure|only|least|first|clear))`,
      'i',
    ),
    new RegExp(
      String.raw`\b(?:works?|worked|fails?|failed|happens?|occurs?|pass(?:es)?|runs?|is|are|was|were|does|did|` +
        String.raw`returns?|shows?|gives?|prints?|gets?|takes?|sends?|loads?|displays?|accepts?)\b`,
      'i',
    ),
    /\bnot\b/gi,
  ),
  matching(/\b(?:is|are) (?:frozen|untouchable|sacred)\b/i),
]

const REQUIRING = orders(
  'always (?!fails?|breaks?|returns?|been|the same|crash|get|gets|ends?|happens?|shows?|says?)\\w',
  "(?:make (?:very |absolutely )?sure|ensure|be sure|be careful|take care|see to it|remember to|don't forget|do " +
    'not forget|bear in mind|keep in mind)\\b',
  '(?:only|solely|exclusively|strictly) (?!happens?|fails?|works?|when i|one of|the ' +
    'first|problem|thing|question|issue|then|that\\b|a few|shows?|occurs?|if i)[\\w`]',
  'keep (?!going|me\\b|us\\b|up\\b|trying|getting|seeing|asking|having|in touch|on\\b|an ' +
    'eye|looking|failing|losing|forgetting)[\\w`"\'./]+',
  '(?:stick (?:to|with)|stay (?:on|in|with|within|under|below|compatible|consistent|close|inside)|adhere to|comply ' +
    'with|conform to|follow (?:the|our|these|this|semver|pep|conventional|my)|respect ' +
    '(?:the|our)|preserve|maintain|retain|honou?r|limit (?:yourself|it|the|this)|restrict|prefer|match ' +
    '(?:the|our))\\b',
  'use (?!case)[\\w`"\'@./-]',
  '(?:work|do (?:it|this|that|everything|all)|stay|commit|develop|put ' +
    '(?:it|this|that|everything))\\b[^.;]{0,40}\\b(?:on|in|to|under|behind) (?:a |the |its |your )?(?:own |new ' +
    '|separate |feature )?(?:branch|flag|feature flag|worktree)\\b',
  '(?:ask|check with|tell|show|wait for|warn|ping)\\b[^.;]{0,40}\\b(?:before|first|until)\\b',
  '(?:answer|reply|respond|write|comment|document|report|speak|talk|summari[sz]e)\\b[^.;]{0,40}\\bin ' +
    '(?:english|german|french|spanish|italian|japanese|chinese|russian|portuguese|british|american|plain|simple|' +
    'markdown)\\b',
  '(?:do|work|write|implement|commit|make|solve|keep|put|ship|deliver|split)\\b[^.;]{0,40}\\b(?:in|as|into|with) ' +
    '(?:one|a single|small|separate|plain|pure|vanilla|individual|atomic)\\b',
  'let (?!us\\b|me\\b).{1,40}\\b(?:keep|stay|remain|continue)\\b',
  'treat\\b.{1,40}\\bas\\b',
  '(?:write|run|add|start|do|show|fix|do)\\b.{1,40}\\b(?:first, then|first and then|before anything else|before ' +
    '(?:the|any) (?:code|implementation|change))',
)

const REQUIRES: Rule[] = [
  matching(
    new RegExp(
      String.raw`(?<!\b(?:do|does|did|would) (?:i|we|you|it|they) )\b(?:must|` +
        String.raw`(?:has|have|had) to(?! (?:much|many|few|little)\b)|shall|` +
        'needs? to (?:stay|remain|keep|build|work|run|be (?:compatible|backwards?|able)|support|still|' +
        String.raw`pass|fit|compile|hold|match|survive|continue|be \w+ed by)|(?:is|are) (?:required|mandatory|` +
        String.raw`obligatory|a must))\b(?! (?:have been|have (?:changed|missed|forgotten|broken)|be (?:the|a|an|` +
        'some|something|missing|wrong|because)|admit|say|go now|leave|know|understand|think))',
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:should|ought to) (?:always|only|still|stay|remain|keep|continue|at (?:least|most)|` +
        'be (?:at most|at least|under|below|no (?:more|longer|larger)|kept|left|backwards?|compatible|' +
        String.raw`limited|able to run))\b`,
      'i',
    ),
  ),
  matching(/\b(?:must|should|shall|please|you|we|to|will|and|but) always\b(?! (?:fail|get|see|been|crash))/i),
  matchingBoth(
    /\bonly\b/i,
    new RegExp(
      String.raw`\b(?:use|touch|change|edit|modify|add|work|run|commit|write|do|want|need|allow|support|accept|` +
        String.raw`rely|depend|read|look|fix|test|take|go|be|allowed)\b[^.;]{0,40}\bonly\b`,
      'i',
    ),
  ),
  matchingBoth(
    / only(?:[.,;!)]|$| please)/i,
    new RegExp(
      '\\b(?=[\\w`.)+-]{1,60}(?: [\\w`.)+-]{1,60}){0,4} only(?:[.,;!)]|$| please))' +
        '(?<!\\b(?:is|are|was|not|it|read)\\b.{0,3})',
      'i',
    ),
  ),
  matching(/^(?:no, |yes, |please )?just (?:a|an|the|plain|one|use|css|html|sql|bash)\b(?: [\w`-]+){0,5}[.!]?$/i),
  matching(/\b(?:ask|check with|wait for|consult)\b (?:me|us|my|for my)\b/i),
  matching(
    new RegExp(
      String.raw`\b(?:before (?:you |any |each |every )?(?:commit|push|merg|deploy|delet|chang|releas|run|` +
        String.raw`edit)\w*)\b[^.;]{0,60}\b(?:ask|run|show|wait|tell|check|let|make|get)\b`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:from now on|going forward|from here on|henceforth|in (?:the )?future|at all times|in every|` +
        String.raw`no matter what|under all circumstances|non-negotiable|without exception)\b(?=.)`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?=(?:at most|at least|no (?:more|later|longer|larger|bigger|fewer|less|newer|older) than|` +
        String.raw`not (?:more|longer|larger|slower|bigger) than|max(?:imum)?(?: of)? \d|up to \d+ (?:lines?|ms|kb|` +
        String.raw`mb|seconds?)|(?:under|below|within|less than|fewer than) \d+\s?(?:%|lines?|ms|milliseconds?|` +
        String.raw`k?b\b|mb|gb|s\b|sec\w*|min\w*|characters?|chars?|columns?|words?|tokens?|` +
        String.raw`files?)))(?<!\b(?:takes?|took|was|were|happens?|happened|fails?|failed|seen|lost)\b.{0,20})`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:rules?|constraints?|requirements?|conventions?|polic(?:y|ies)|conditions?|restrictions?|` +
        String.raw`limitations?|house style|ground rules?|deal[- ]?breakers?)\b[^:.?!]{0,40}: ?\S`,
      'i',
    ),
  ),
  matching(
    new RegExp(
      String.raw`\b(?:i|we) (?:insist|require|demand|expect|only (?:support|want|use|allow|accept|ship|target)|` +
        String.raw`want (?:it|this|that|them|everything|the \w+|all \w+) to (?:stay|remain|be (?:exactly|` +
        String.raw`strictly)))\b`,
      'i',
    ),
  ),
  matching(/\b(?:backwards?|forwards?)[- ]compatib/i),
  matching(
    /\b(?:exactly|strictly|verbatim|word for word|byte for byte|to the letter) (?:as|like|the same|once|one|what)\b/i,
  ),
  unlessDescribed(
    new RegExp(
      '[\\w)`], (?:and )?not (?!sure|only|just|yet|that|so|really|to mention|bad|working|found)' +
        "(?:[\\w`'./-]+ ){0,3}[\\w`'./-]+ ?[.!,;]?$",
      'i',
    ),
    new RegExp(
      String.raw`\b(?:returns?|shows?|gives?|prints?|is|are|was|were|says?|gets?|takes?|does|loads?|sends?|` +
        String.raw`contains?|displays?|accepts?|sees?|works?|fails?)\b`,
      'i',
    ),
    /, (?:and )?not\b/gi,
  ),
  matching(
    new RegExp(
      String.raw`\b(?:it is|it's|is|are) (?:very |really |absolutely )?(?:important|crucial|essential|vital|` +
        String.raw`critical|imperative|key) (?:that|to)\b`,
      'i',
    ),
  ),
  matching(/\b(?:i|we) (?:want|need|expect) (?:every|each|all|any|zero|both)\b/i),
  matching(
    new RegExp(
      String.raw`\b(?:every|each|all|any)(?: new| single)?\b.{1,50}\b(?:needs?|gets?|requires?|has to|have to|` +
        String.raw`must|goes|go|is to|are to)\b`,
      'i',
    ),
  ),
  matching(/\b(?:is|are) the (?:limit|maximum|max|minimum|cap|ceiling|budget)\b/i),
  matching(/\b(?:budget|limit|maximum|deadline|ceiling) (?:is|of|for)\b[^.]{0,30}\d/i),
  matching(
    new RegExp(
      '^(?:all )?(?:names?|comments?|commit messages?|commits?|variables?|docs?|documentation|tests?|identifiers?|' +
        "messages?|errors?|logs?|files?|headings?|dates?|prices?|amounts?) (?:in|as) [\\w`'-]+",
      'i',
    ),
  ),
  matching(/\b\w+ first, then\b/i),
  matching(/\bas [\w-]+ as possible\b/i),
  matching(/^one [\w -]{2,30} per \w+/i),
  matching(/^(?:everything|all of (?:it|this|that)|it all)\b.{0,20}\b(?:behind|under|through|via|inside|in)\b/i),
  matching(
    new RegExp(
      String.raw`^(?:[\w-]+ ){1,3}in (?:plain |simple |british |american )?(?:english|german|french|spanish|` +
        String.raw`italian|japanese|chinese|russian|snake_case|camelcase|utc|markdown)\b`,
      'i',
    ),
  ),
  matching(/\bbelongs? (?:in|into|to|under|on)\b/i),
  matching(
    new RegExp(
      '^(?!(?:it|this|that|the (?:bug|problem|issue|error|test|failure|crash|page|' +
        String.raw`app))\b).*\bonly (?:from|via|through|by|after|with|under|inside|within|behind)\b`,
      'i',
    ),
  ),
]
