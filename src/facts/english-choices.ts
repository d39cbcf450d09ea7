import type { DecisionForm } from './decision-form.js'

/**
 * English forms of steering by the user and of conclusions by the agent.
 * The table `DECISION_FORMS` includes them, so its test runs their examples.
 */
export const ENGLISH_CHOICES: readonly DecisionForm[] = [
  {
    by: 'user',
    asks: true,
    pattern: new RegExp(
      String.raw`\b(?:can|could|should) (?:we|you|it) not\b|^why (?:is|are|was|were|do|does|did|would) ` +
        String.raw`.{3,160}\b(?:rather than|instead of|and not)\b`,
      'i',
    ),
    examples: ['can we not take the name from the header?', 'Why is the list sorted, rather than kept as it came?'],
    counterexamples: ['Can we see the log?', 'Why is it slow?'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      '^(?:(?:yes|ok|okay|yeah|hmm|so|but)[, ]+)*(?:[Ii] think )?(?:#|option )?(?:[A-D]|[1-9])[).,:]? ' +
        String.raw`?(?:it is|is fine|is good|works|please|seems?|looks?|sounds?)\b|\b[Ii] think (?:option )?[A-D]\b`,
    ),
    examples: ['3 looks like the quick one', 'C. is fine, add a note', 'I think B, it keeps the old name'],
    counterexamples: ['I think a cache is missing', 'Can we see it?'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      String.raw`\bi (?:think|guess|feel like|say|reckon) (?:we )?let'?s (?!see|look|check)\w|(?<!-)\b(?:just|only) ` +
        String.raw`(?!\w+ing\b)[\w -]{3,60} for now\b|\bwe should (?:be \w+ing|.{3,100}\b(?:not|instead of|` +
        String.raw`rather than))\b|\bwould (?:much )?(?:prefer|rather)\b|(?:^|[-–—,:] )(?:keep|leave) ` +
        String.raw`(?:it|this|that|them|these) (?!going\b|up\b|in mind|coming)\w+|\b(?:as|in) (?:a|its own|` +
        String.raw`another) separate (?:pr|branch|commit|issue|ticket|task)\b`,
      'i',
    ),
    examples: [
      "I think let's have one list per folder",
      'just the nightly job for now',
      'we should be counting the rows, not the bytes',
      'I would prefer the small one',
      'on purpose - keep it hidden',
      'do the rename as a separate PR',
    ],
    counterexamples: ['I just looked at it.', 'keep it going', 'we should be fine'],
  },
  {
    by: 'user',
    pattern: new RegExp(
      "^(?:(?:ok|okay|yes|yeah|yep|hmm|actually|maybe|and|so|then)[, ]+)*let'?s (?!(?:see|look|check|" +
        'find|try|think|discuss|talk|go|continue|start|begin|move on|run|get|do (?:it|that)|have a look|move to|' +
        'not (?:worry|forget)|say|hope|wait|examine|review|brainstorm|debug|confirm|verify|clarify)' +
        String.raw`\b)\w+ (?!(?:it|this|that|please)[.! ]*$)\S+`,
      'i',
    ),
    examples: ["yeah let's tackle the second and third", "ok, let's mark the old ones"],
    counterexamples: ["let's see what happens", "let's fix it.", "let's go", "let's not worry about it"],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      '^(?:switching|moving|changing|adding|using|replacing|removing|wrapping|splitting|caching) ' +
        String.raw`.{5,140}\b(?:fixes|solves|resolves|avoids|prevents)\b|\bneeds? (?:updating|adjusting|` +
        String.raw`changing|rewriting)\b`,
      'i',
    ),
    examples: ['Moving the lock into the loader avoids the race.', 'The snapshot needs updating.'],
    counterexamples: ['Moving on to the tests.', 'It needs a name.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:take|took|taking|keep|keeping|kept|accept|accepted) (?:theirs|ours|both (?:sides|changes|` +
        String.raw`versions)|the (?:\w+(?:'s)?) version)\b|\b(?:leaving|keeping) (?:it|this|that|them) .{2,30}\b` +
        String.raw`(?:is|seems) (?:correct|right|fine|safe)\b|\b(?:changes?|differences?|diffs?|warnings?) .{0,40}` +
        String.raw`\b(?:is|are) (?:fine|intentional|expected|harmless)\b|\b(?:correct|intended) behaviou?r\b`,
      'i',
    ),
    examples: [
      'Both sides only moved lines, so take theirs.',
      'Leaving it in the index is correct.',
      'The whitespace changes in the lock file are fine.',
      "That's the intended behaviour.",
    ],
    counterexamples: ['Take a look.', 'The tests are fine.', 'Leaving the folder.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      '^(?:so |it |they |both |these |this |that )?(?:should) (?:just |simply |really )?(?:be|use|call|go|' +
        String.raw`return|live|read) (?:.{2,100}\binstead\b|\x60|(?:in|re)\w+ed\b)|\bshould (?:just|simply) (?:be|` +
        String.raw`use|call|return|read)\b|^(?:this|that|there)(?:'s| is) (?:the|a real) (?:\w+ )?(?:bug|` +
        'root cause|problem|culprit) ?[:—–-].{10,}',
      'i',
    ),
    examples: [
      'Both should use `openStore` instead.',
      'It should just be the loader.',
      'This is the bug: the handle is closed twice.',
    ],
    counterexamples: ['It should work now.', 'This should be fine.', 'This is the bug.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      String.raw`\b(?:seems?|looks?|is) (?:the )?(?:cleanest|simplest|safest|most (?:robust|natural|sensible))\b|` +
        String.raw`\bI(?:'d| would)? (?:also )?(?:suggest|recommend|propose|lean (?:toward|towards|to)) ` +
        String.raw`(?:[Oo]ption )?(?:\*\*|\x60|(?:[Oo]ption )?[A-D1-5]\b|#)`,
    ),
    examples: ['Keeping one table seems cleanest.', "I'd lean toward `--write`.", 'I recommend **Option C** because'],
    counterexamples: ["I'd suggest a look at the log.", 'It is the last one.'],
  },
  {
    by: 'agent',
    pattern: new RegExp(
      String.raw`\bis (?:essentially|effectively|basically) (?:a|an|the) |\bno longer (?:needed|necessary|required|` +
        String.raw`applies|relevant)\b|` +
        String.raw`\bi(?:'ll| will) (?:replace|swap|convert|reuse|switch) .{3,120}\b(?:which|so that|instead|both)\b`,
      'i',
    ),
    examples: [
      'The second check is essentially a copy of the first.',
      'The old queue is no longer needed.',
      "I'll replace the list with a map, which keeps the order.",
    ],
    counterexamples: ["I'll replace it.", 'It is no longer there.'],
  },
]
