import type { DecisionForm } from './decision-form.js'

/** Forms in which English speakers and agents state a choice. Measured on real sessions. */
export const ENGLISH_FORMS: readonly DecisionForm[] = [
  {
    by: 'user',
    asks: true,
    pattern: new RegExp(
      String.raw`\b(?:(?:can'?t|couldn'?t|shouldn'?t) (?:we|you|it|this|that)|why (?:not|don'?t (?:we|` +
        'you)) (?!work|see|' +
        String.raw`know)|how about (?:we|\w+ing|just)|wouldn'?t it be|(?:could|should|can) (?:we|you) (?:instead|` +
        String.raw`rather|just)|wouldn'?t (?:\w+ ){1,6}be (?:better|easier|simpler))\b`,
      'i',
    ),
    examples: ["Can't we keep the list in memory?", 'why not using the old parser?', "why don't you just copy it"],
    counterexamples: ["Why doesn't it start?", 'Can we see the log?'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      String.raw`^(?:no|nope|nah|wrong|not quite)\b[,.! –-]+(?!problem|worries|idea|thanks|rush)\S.{8,}|` +
        String.raw`\b(?:that|this|it)(?:'s|s| is) not (?:the|what|how|where|right|quite)\b|` +
        String.raw`\b(?:has|have|is|are|was|were|'s) already (?:been )?(?:fixed|done|merged|handled|removed|` +
        'deployed|' +
        String.raw`implemented|in place|there)\b`,
      'i',
    ),
    examples: [
      'No, the value comes from the second file',
      'thats not the queue I meant',
      'this has already been merged',
    ],
    counterexamples: ['No problem.', 'It is the file that I meant.'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      String.raw`\bi (?:honestly |really |also |still |do )?(?:think|feel|reckon|believe)(?: like|` +
        " that)? (?:its|it's|" +
        String.raw`it is|that's|thats) (?:worth\w*|better|best|good|fine|ok(?:ay)?|enough|cleaner|safer|` +
        String.raw`simpler|time)\b|` +
        String.raw`\bi (?:honestly |really |also |still |do )?(?:think|feel|reckon|believe)(?: like|` +
        ' that)? (?:we|you) ' +
        String.raw`(?:should|could|can|need|must|want|might)\b|\bi(?:'d| would) (?:add|keep|go|use|prefer|` +
        'like(?! to (?:generate|work|see|know|understand|look|check|discuss|review|start|run|talk|try)|$)|rather|' +
        String.raw`leave|drop|make|put|skip|start|do|split|merge|call|move)\b`,
      'i',
    ),
    examples: [
      'I think its worth writing that down',
      'I think we should drop the cache',
      "I'd add a third state for it",
    ],
    counterexamples: ['I think it is Monday.', 'I would not know.'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      String.raw`\b(?:i|we)(?:'ve| have)? (?:just |already |also |now )?(?:removed|deleted|renamed|reverted|merged|` +
        'closed|moved|disabled|enabled|switched|rebased|squashed|pushed|upgraded|downgraded|' +
        String.raw`restored|split)\b|` +
        String.raw`\b(?:it'?s|its|they'?re|should be) called\b|^(?:call|name|rename) (?:it|this|that|them|the)\b`,
      'i',
    ),
    examples: ['I removed the second page', 'its called release/next', 'rename it to worker'],
    counterexamples: ['What is it?', 'I looked at the second page.'],
  },
  {
    by: 'agent',
    beforeChange: true,
    pattern: new RegExp(
      String.raw`^(?:let me|i need to|i'll) (?:fix|add|re-?add|use|make|revert|change|update|move)\b.*\b(?:instead|` +
        String.raw`to also|so that|when|rather|since|because|which|without|only)\b|^(?:so |instead,? )?(?:i can|` +
        String.raw`we can|we could) (?:use|resolve|keep|put|take|make|drop|skip|treat|include|store)\b`,
      'i',
    ),
    examples: ['Let me change the loader to also read the second file:', 'I can use the streaming parser.'],
    counterexamples: ['Let me look at the loader.', 'Now the tests.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:let me|i'll|i will) (?:revert|undo|reset|go back|rebase|drop|cherry-pick)\b(?!.{0,12}$)|` +
        '^(?:so |instead,? |however,? )?(?:we|i) (?:can|could) (?:add|use|do|make|keep|move|put|' +
        'reuse|store|' +
        String.raw`split|skip|replace|introduce)\b`,
      'i',
    ),
    examples: ['Let me revert that and cache the list on the server.', 'We can reuse the existing table for it.'],
    counterexamples: ['We can see the result.', 'I could not find it.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      String.raw`^(?=.*\*\*[^*]{14,200}[^*:：]\*\*).*\b(?:causes?|triggers?|culprit|reason|rules?|fixed the bug|` +
        'not needed|' +
        String.raw`changes everything|answer)\b`,
      'i',
    ),
    examples: ['So the answer: **the old migration never ran**.', '**The retry is the trigger** of the outage.'],
    counterexamples: ['**Done.**', 'The cause is not known yet.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      String.raw`^\W*(?:(?:key|simplified|new|core|golden|proposed|revised|final) )?(?:rule|principle|` +
        'recommendation|' +
        'proposal|decision|conclusion|resolution|takeaway|required|recommended|refinement|' +
        String.raw`must fix)\W*:\W*(?!approve|lgtm)\w.{6,}|` +
        String.raw`\b(?:key|simplified|new|golden) rule: `,
      'i',
    ),
    examples: ['**Simplified rule:** Drop the row only when it is empty.', '**Required:** Close the handle.'],
    counterexamples: ['Rule:', 'The rules of the game.'],
  },
  {
    by: 'agent',
    pattern:
      /(?<!\b(?:i|you) )\b(?:do|does)(?:n't|n’t| not| \*\*not\*\*) need (?!to (?:worry|know|see))|\bis not needed\b/i,
    examples: ['So the workers don’t need a lock of their own.', 'The list does **not** need a version.'],
    counterexamples: ['We need a lock.', "You don't need to worry."],
  },
  {
    // A picked option: "3, but keep the list", "let's go 40".
    by: 'user',
    pattern: new RegExp(
      '^(?:(?:ok(?:ay)?|yes|yeah|hmm|so|and|then|i think)[,.: ]+)*(?:option |variant |plan |' +
        String.raw`#)?(?:[a-e]\)(?! (?:why|what|how)\b|.{0,60}:$)|[a-e](?=[,.]? ` +
        String.raw`(?:but|is|sounds|looks|seems|works|with|please)\b)|\d{1,2}(?=[),.]? (?:but|is|sounds|looks|` +
        'seems|' +
        String.raw`works|with|please)\b))|\blet'?s (?:\w+ )?(?:do|go|take|pick|use|tackle|try|make it) (?:with |` +
        String.raw`for |to )?#?\d+\b`,
      'i',
    ),
    examples: ['3, but keep the list', "let's do 2 for now", 'I think B) is fine', '4 looks good to me', "let's go 40"],
    counterexamples: ['3 tests fail', 'A build is running.', "let's do it tomorrow"],
  },
  {
    by: 'user',
    pattern: new RegExp(
      String.raw`\b(?:that|this|it)(?:'s| is) (?:no good|not good|overkill|too (?:much|complex|complicated|` +
        'verbose|slow|' +
        String.raw`risky|noisy)|nonsense|a bad idea|not worth)\b|\bseems? (?:like )?(?:a |` +
        String.raw`the )?(?:\w+ ){0,2}(?:choice|` +
        String.raw`fit|one to|idea)\b|\b(?:do|implement|fix|take|keep|include|apply) (?:both|neither|` +
        'all (?:of them|three|' +
        String.raw`four))\b`,
      'i',
    ),
    examples: [
      'oh, that is no good',
      "it's overkill for one file",
      'the last one seems a good choice',
      'please fix both',
    ],
    counterexamples: ['That is good.', 'It seems to hang.', 'Both fail.'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      '^(?:(?:ok(?:ay)?|yes|yeah|hmm|so|and|then|no|maybe|perhaps)[,.: ]+)*(?:push|bump|raise|lower|limit|cap|' +
        String.raw`set|increase|reduce|extend|shorten) (?:it|that|this|them|the [\w ]{1,30}?) (?:to|at|by) \S+|` +
        String.raw`\b(?:log|file|create|open|raise) (?:an?|the) (?:[\w-]+ ){0,2}(?:bug|task|follow-?up|todo)\b`,
      'i',
    ),
    examples: ['maybe raise it to 40', 'set the limit to ten minutes', 'open a follow-up for that'],
    counterexamples: ['The limit was raised.', 'The bug is open.'],
  },
  {
    // Consent that adds what it covers: "yes, one copy is enough".
    by: 'user',
    pattern: new RegExp(
      String.raw`^(?:yes|yeah|yep|yup|sure|agreed?|right|correct)\b[,.!:]* (?:and |but )?(?:we|it|they|that|the|` +
        'only|just|' +
        String.raw`let'?s) (?!(?:confirm|check|see)\b|` +
        String.raw`(?:go|do|that|implement|start|continue|proceed|begin)\b(?! with)[^,]{0,24}$|` +
        '(?:makes sense|is (?:right|correct|fine)|works|sounds|would be' +
        String.raw`)\b)\S.{9,}`,
      'i',
    ),
    examples: ['yes, the second copy can stay as it is', "yeah let's go with tables"],
    counterexamples: ['yes please', 'yes, that makes sense', 'ok, what next'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      String.raw`\bi (?:do |really |still |also )?want to (?:replace|switch|move|keep|drop|remove|rename|split|` +
        'merge|' +
        String.raw`avoid|store|support|separate|limit|postpone)\b`,
      'i',
    ),
    examples: ['I want to replace the poller with events'],
    counterexamples: ['I want to know why.', 'Do you want to use it?'],
  },
  {
    // Advice of the agent.
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:i|we)(?:'d|'m| would| am)?(?: (?:personally|strongly|still))? (?:recommend|suggest|` +
        'lean(?:ing)?|' +
        String.raw`favou?r|vote for|go (?:with|for)|advise)\b` +
        String.raw`(?! (?:you (?:check|look|read|verify)|at (?:minimum|least))\b)|` +
        String.raw`\bmy (?:recommendation|` +
        String.raw`suggestion|preference|vote|pick)\b(?=.{6})|^\W*go with \S|\b(?:option|approach|` +
        String.raw`variant) (?:[a-e]|\d)\W* (?:is|` +
        String.raw`seems|looks) \S`,
      'i',
    ),
    examples: [
      'I lean toward the second form.',
      "I'd suggest a flat table.",
      'My recommendation: B) Keep one file',
      'For this task, option 2 is quickest.',
    ],
    counterexamples: ['You suggested a table.', 'There are two options.'],
  },
  {
    // A comparison of ways.
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:cleaner|simpler|safer|clearer|easier|cheaper|quicker|more (?:robust|explicit|consistent|` +
        'reliable|' +
        String.raw`practical)|less (?:risky|noise|invasive)|better)\b(?: \w+){0,2} than\b(?! before\b)`,
      'i',
    ),
    examples: ["That's a cleaner fix than a second flag.", 'Explicit names are clearer than numbers.'],
    counterexamples: ['It is faster than before.', 'A better test.'],
  },
  {
    // A cause that was found, or the mistake in it.
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:the|this) (?:\w+ )?(?:fix|solution):\W* ?\w.{20,}|^(?:(?:ah|oh|` +
        "actually)[,.!—– -]+)+it(?:'s| is) " +
        String.raw`(?:the|because|a)\b.{12,}|^i was \w+ing the wrong\b|\b(?:the|this) (?:\w+ ){1,3}incorrectly\b`,
      'i',
    ),
    examples: [
      "Ah, it's the cache of the old loader.",
      'I was reading the wrong folder.',
      'The fix: instead of a loop, read the list once.',
      'The first reader incorrectly keeps the handle.',
    ],
    counterexamples: ['The issue is still open.', 'The fix: done', 'It is late.'],
  },
  {
    // A reason to leave something as it is.
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b\w{2,30}ing\b.{3,60} is safe\b|\b(?:is|are) (?:sufficient|enough|overkill|unnecessary|premature|` +
        'legitimate|intentional|' +
        String.raw`by design)\b(?! (?:changes|files)\b)(?=.{0,80}$)|^\W*(?:leave|keep)\b.{3,90}\b(?:alone|as[- ]is|` +
        String.raw`unchanged|untouched|for now|separate)\b|\bserves? no purpose\b|\b(?:there's|there is|` +
        String.raw`we) already (?:an? |have )?\S+` +
        String.raw`.{0,60}\b(?:use|reuse)\b`,
      'i',
    ),
    examples: [
      'Dropping the second check is safe for both paths.',
      'Leave the old loader alone',
      'What we have is sufficient for this step.',
      'These aliases serve no purpose.',
    ],
    counterexamples: [
      'Is it safe?',
      'Keep reading.',
      'The list has enough entries now to start with the second part of the work.',
    ],
  },
  {
    // A technical reason against a way.
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:can't|cannot|can not|couldn't) (?:import|use|reuse|call|rely|depend|share|move|` +
        String.raw`be (?:moved|shared|used))\b` +
        '.{4,}',
      'i',
    ),
    examples: ["The store package can't import from the shell (circular)."],
    counterexamples: ['I cannot find it.', 'The imports are sorted.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      String.raw`^(?:so )?(?:we|it|they|the \S+(?: \S+)?) should \w+ (?=.*\b(?:first|before|earlier|instead|` +
        'only|always|never|rather|' +
        String.raw`by default|both|same)\b).{8,}|^agreed?\b\W+\w+ .{10,}`,
      'i',
    ),
    examples: ['The short form should print the total first.', 'Agree - drop the marker and keep the name.'],
    counterexamples: ['It should work now.', 'They should be fine.', 'Agreed.'],
  },
  {
    // A correction, and a place for the result.
    by: 'user',
    pattern: new RegExp(
      "^(?:no,? |but |sorry,? )?(?:you(?:'re| are)|that(?:'s| is)) (?:not (?:correct|right)|wrong|" +
        'incorrect|mistaken)' +
        String.raw`\b|^(?:(?:ok(?:ay)?|yes|yeah|sure|no|just)[,.: ]+)*(?:put|place|save|store) (?:it|that|this|` +
        'them) (?:in|into|' +
        String.raw`under|at|on|behind)\b.{3,}|\binstead of\b.{3,100}\b(?:we|you|it|they) (?:should|could|can|must)\b`,
      'i',
    ),
    examples: [
      'you are not correct: the list is read twice',
      'sure, put it in the notes',
      'instead of "a" we should print "b"',
    ],
    counterexamples: ['You are right.', 'It was put there.'],
  },
  {
    // A refusal.
    by: 'agent',
    pattern: /\bi (?:won't|will not|am not going to) (?!be able\b|know\b|see\b)\w+ \S.{6,}/i,
    examples: ["I won't add that key to the page."],
    counterexamples: ["I won't be able to see it.", "We won't keep it."],
  },
  {
    // A thing that the code never does.
    by: 'agent',
    pattern: new RegExp(
      String.raw`\bis never (?:called|used|set|populated|read|written|closed|checked|updated|reset|sent)\b|` +
        String.raw`\b(?:we're|we are) ` +
        String.raw`(?:just |simply )?not \w{2,30}ing\b`,
      'i',
    ),
    examples: ['The field `owner` is never populated during the start.', "We're just not reading the second line."],
    counterexamples: ['This is never easy.', 'We are done.'],
  },
  {
    // A change with its manner or purpose, in a text that a change follows.
    by: 'agent',
    beforeChange: true,
    pattern: new RegExp(
      String.raw`\b(?:let me|i'll|i need to|i will) (?:fix|remove|modify|make|change|restore|refactor|simplify|` +
        'rewrite|extract|' +
        String.raw`replace|split|create|introduce|restructure|drop) .{10,}(?:\bby \w{2,30}ing\b|\bto (?:keep|` +
        'match|return|track|' +
        String.raw`avoid|ensure|prevent|support|stay|accept|reject)\b|-aware\b|\bsince\b|\bbecause\b)`,
      'i',
    ),
    examples: [
      "I'll change the loader to return the number of rows.",
      'Let me fix this problem by reading the list twice.',
    ],
    counterexamples: ['Let me fix the test.', "I'll remove it."],
  },
  {
    // A verdict on one item of a list or a review.
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:item|comment|point|issue|finding|caveat|suggestion|remark)s? #?\d+(?:(?:,|` +
        String.raw` and) #?\d+)*\W* (?:is|are) ` +
        String.raw`(?:\w+ )?(?:fine|valid|wrong|misleading|moot|obsolete|correct|stale|invalid|harmless|` +
        String.raw`intended)\b|` +
        String.raw`\bas a safety net\b|\b(?:is|are) (?:different|separate|distinct) from\b.{3,160}\bbecause\b|` +
        String.raw`\bhandles? (?:this|it|that)(?: case| scenario)? correctly\b`,
      'i',
    ),
    examples: [
      'So remark #8 is misleading.',
      'Good news: item 4 is fine.',
      'The new helper is different from the old one because it keeps the path.',
      'The system handles this correctly.',
    ],
    counterexamples: ['Item 4 is next.', 'This is different.'],
  },
]

/** An order begins with a verb and says what it is about. */
const ORDER = new RegExp(
  '^(?:(?:no|ok|okay|just|please|hmm)[,. ]+)*(?:add|break|call|change|check|combine|copy|drop|extract|group|' +
    'inline|keep|leave|make|merge|move|name|pass|put|remove|rename|replace|return|revert|separate|skip|' +
    String.raw`sort|split|store|swap|use|wrap|write) (?!(?:it|that|this)[.!]?$)\S.{6,}`,
  'i',
)
/** Returns true for an English sentence that orders something. */
export const isOrder = (sentence: string): boolean => ORDER.test(sentence)
