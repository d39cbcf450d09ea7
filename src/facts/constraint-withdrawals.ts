import type { NoRule } from './constraint-table.js'

/**
 * Forms in which users take a rule back. They count only beside words of an earlier rule.
 * Russian has none yet.
 */
export const WITHDRAWALS: readonly NoRule[] = [
  {
    pattern: new RegExp(
      String.raw`\b(?:(?<!never |not |n't )forget (?:about )?(?:what|the|that|my)|` +
        'never ?mind (?:about )?(?:the|what|that|my)|' +
        'no longer (?:need|' +
        "necessary|required|applies|matters|want)|(?:is|are|it's|that's) (?:ok|okay|fine|" +
        'allowed) (?:now|after all)|' +
        String.raw`you (?:can|may) .{1,60}\b(?:now|after all|again)\b|ignore what i said|scrap (?:the|that) (?:rule|` +
        'requirement|limit)|changed my mind|i take (?:that|it) back)',
      'i',
    ),
    examples: ['Forget about the port rule.', 'You can change the parser now.', 'The limit no longer applies.'],
    counterexamples: ['Never forget the port.', 'You can see the log.'],
  },
  {
    pattern:
      /もう(?:.{0,30})(?:いい|不要|必要ない|しなくて)|やっぱり?.{1,40}(?:いい|OK|大丈夫)|(?:さっき|前)の(?:.{0,20})(?:忘れて|なしで|取り消)/,
    examples: ['やっぱり表は変えてもいい', 'さっきの制限は忘れて'],
    counterexamples: ['もう一度実行して'],
  },
  {
    pattern: /(?:不用再|不再需要|取消(?:之前|刚才)|之前(?:说)?的.{0,20}(?:作废|不算|忽略)|现在可以.{1,30}了)/,
    examples: ['现在可以修改解析器了', '之前说的限制作废'],
    counterexamples: ['不要修改解析器'],
  },
  {
    pattern: /(?:이제(?:는)? .{1,40}(?:돼|괜찮|해도)|(?:아까|전에) .{1,40}(?:취소|무시|잊어))/u,
    examples: ['이제 파서를 바꿔도 돼', '아까 말한 제한은 취소'],
    counterexamples: ['파서를 바꾸지 마'],
  },
  {
    pattern: new RegExp(
      String.raw`(?<!\p{L})(?:vergiss (?:das|die|den|was)|gilt nicht mehr|(?:darfst|kannst) .{1,60}(?:jetzt|doch|` +
        String.raw`wieder)|ist (?:jetzt|doch) (?:erlaubt|in ordnung|ok))(?!\p{L})`,
      'iu',
    ),
    examples: ['Die Grenze gilt nicht mehr.', 'Du darfst den Parser jetzt ändern.'],
    counterexamples: ['Ändere den Parser nicht.'],
  },
  {
    pattern: new RegExp(
      "(?:oublie(?:z)? (?:ce que|la|le|les)|n['’]est plus (?:nécessaire|valable)|" +
        'tu peux .{1,60}maintenant|finalement,? .{1,40}(?:peux|peut))',
      'i',
    ),
    examples: ["La limite n'est plus valable.", 'Tu peux changer le parseur maintenant.'],
    counterexamples: ['Ne change pas le parseur.'],
  },
  {
    pattern: /(?:olvida (?:lo|la|el)|ya no (?:es necesario|hace falta|aplica)|ya puedes|ahora sí puedes|al final sí)/i,
    examples: ['Ya puedes cambiar el analizador.', 'El límite ya no aplica.'],
    counterexamples: ['No cambies el analizador.'],
  },
]
