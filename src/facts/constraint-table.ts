import type { Demand } from './constraint-english.js'
import { type ConstraintForm, ENGLISH_FORMS } from './constraint-english-forms.js'
import type { Language } from './language.js'

/**
 * Forms per language. English and Japanese were measured on real sessions.
 * The forms of other languages are built from examples alone.
 */
export const CONSTRAINT_FORMS: Record<Language, readonly ConstraintForm[]> = {
  en: ENGLISH_FORMS,
  ja: [
    {
      demand: 'required',
      pattern: new RegExp(
        '(?:ほしい|欲しい)(?:かも|です|な|けど|。|、|$)|(?<!み)(?:し|に)たい(?:です|んだ|な|。|$)|理想(?:だ|です|的)|(?:する|動く|' +
          String.raw`できる)はず(?:。|です|$)|(?:残し|その|今の)(?:た)?まま|ように(?:[.。！、\s]|$|お願い)|で(?:いい|良い|よい|OK)(?:です|よ|。|` +
          '$)',
        '',
      ),
      examples: [
        '表を出す機能もほしいかも',
        'サブの項目を必須にしたい',
        'それは残したままでいい',
        '規格に対応するように',
      ],
      counterexamples: ['鳥みたいに飛ぶ', 'これは何ですか'],
    },
    {
      demand: 'forbidden',
      pattern:
        /[\p{L}]しない(?:。|！|で|こと|$)|(?:いら|要ら)ない|不要(?:です|。|$)|(?:あと|後)(?:で|回し)(?:で)?(?:いい|良い)/u,
      examples: ['順位付けしない', 'それはいらない', 'ブラウザはあとででいい'],
      counterexamples: ['まだ終わらない'],
    },
    {
      demand: 'required',
      pattern:
        /(?:英語|日本語|中国語|韓国語)(?:に(?:して|すること|$)|で(?:書|返|お願い|$))|(?:に|し)たい(?:かな|かも|ので)|[れけせてろ]って言って/,
      examples: ['題名は英語に', '説明は日本語で書いて', '一覧も残すようにしたいかな', 'ここに置けって言ってる'],
      counterexamples: ['英語の本です', '何をしたいの'],
    },
    {
      demand: 'forbidden',
      pattern: /(?:し|使い|入れ|変え|増やし)たくない/,
      examples: ['まだ公開したくないんだけど'],
      counterexamples: ['公開したい'],
    },
  ],
  zh: [
    {
      demand: 'required',
      pattern: /每(?:一?次|完成)[^，。]{1,20}(?:都|就|要|請|请)|希望|想要|(?:秒|毫秒|行|个|分钟)(?:以内|以下|之内)/,
      examples: ['每次实现完都要提交', '希望参数保留', '控制在五十秒以内'],
      counterexamples: ['每个人都知道了'],
    },
    {
      demand: 'forbidden',
      pattern: /(?:先|暂时)(?:不|别)|其他(?:的)?(?:不动|保留)|除了[^，。]{1,20}(?:以外|之外)/,
      examples: ['先不处理日志', '其他的不动'],
      counterexamples: ['先处理日志'],
    },
  ],
  ko: [
    {
      demand: 'forbidden',
      pattern: /하지\s?(?:마|말)|(?:않게|않도록|안\s?되게)|금지|제외(?:하고|해)|빼고|건드리지/u,
      examples: ['높이에는 영향을 주지 않게', '설정은 건드리지 마'],
      counterexamples: ['높이를 알려줘'],
    },
    {
      demand: 'required',
      pattern: /반드시|꼭|해야\s?(?:해|한|합|돼|된)|하도록|(?:으로|로)만|이내|미만|이하|유지(?:해|하)|먼저|면\s?좋겠/u,
      examples: ['반드시 테스트를 먼저 작성해', '오십 초 미만으로', '한국어로만 써줘'],
      counterexamples: ['왜 실패했어'],
    },
  ],
  de: [
    {
      demand: 'required',
      pattern: new RegExp(
        String.raw`\b(?:ich|wir) (?:möchte|hätte|will|wollen|möchten|wünsche)n?\b.{1,80}\b(?:bleib|behalt|` +
          String.raw`erst|nur|immer|lieber)|\b(?:zuerst|als erstes)\b|\bsolange\b.{1,60}\bnicht\b|` +
          String.raw`\bhat (?:vorrang|priorität)\b`,
        'i',
      ),
      examples: ['Ich möchte, dass die Reihenfolge bleibt.', 'Schreib zuerst den Test.'],
      counterexamples: ['Ich möchte den Bericht sehen.'],
    },
    {
      demand: 'forbidden',
      pattern: new RegExp(
        String.raw`\b(?:lieber|besser) (?:nicht|kein\p{L}*)|\baußer (?:bei|in|für|dem|der|den)\b|` +
          String.raw`\bden rest\b.{0,20}\b(?:lassen|lass|nicht)`,
        'iu',
      ),
      examples: ['Das speichern wir lieber nicht lokal.', 'Alles außer dem Parser.'],
      counterexamples: ['Das ist besser.'],
    },
  ],
  fr: [
    {
      demand: 'required',
      pattern: new RegExp(
        String.raw`\b(?:je (?:veux|voudrais|souhaite|préfère)|on veut|nous voulons) (?:que|garder|` +
          String.raw`conserver|rester)\b|\b(?:d['’]abord|en premier|avant de (?:commencer|continuer))\b`,
        'i',
      ),
      examples: ["Écris d'abord le test.", 'Je veux que les paramètres restent.'],
      counterexamples: ['Je veux voir le rapport.'],
    },
    {
      demand: 'forbidden',
      pattern: new RegExp(
        String.raw`\b(?:mieux vaut|plutôt) ne pas\b|\bsauf (?:le|la|les|pour)\b|\bon ignore\b|` +
          String.raw`\bignore(?:z)? (?:le|la|les|l['’])`,
        'i',
      ),
      examples: ['Mieux vaut ne pas toucher au cache.', 'Tout sauf le parseur.'],
      counterexamples: ['Le reste est bon.'],
    },
  ],
  es: [
    {
      demand: 'required',
      pattern: new RegExp(
        String.raw`\b(?:quiero|queremos|prefiero|preferimos) (?:que|mantener|conservar)\b|\b(?:primero|` +
          String.raw`antes de (?:empezar|seguir|continuar))\b`,
        'i',
      ),
      examples: ['Escribe primero la prueba.', 'Quiero que se conserve el orden.'],
      counterexamples: ['Quiero ver el informe.'],
    },
    {
      demand: 'forbidden',
      pattern: /\b(?:mejor|preferiblemente) no\b|\bsalvo (?:el|la|los|las)\b|\bexcepto\b|\bignora (?:el|la|los|las)\b/i,
      examples: ['Mejor no guardar eso.', 'Todo excepto el analizador.'],
      counterexamples: ['Es mejor así.'],
    },
  ],
  ru: [
    {
      demand: 'required',
      pattern: /(?<!\p{L})(?:сначала|в первую очередь|хочу, чтобы|хотим, чтобы|прежде чем)(?!\p{L})/iu,
      examples: ['Сначала напиши тест.'],
      counterexamples: ['Это хороший тест.'],
    },
    {
      demand: 'forbidden',
      pattern: /(?<!\p{L})(?:лучше не|кроме|остальное не)(?!\p{L})/iu,
      examples: ['Лучше не хранить это локально.'],
      counterexamples: ['Так лучше.'],
    },
  ],
}

/** A form of sentences that state no rule. */
export interface NoRule {
  pattern: RegExp
  examples: readonly string[]
  counterexamples: readonly string[]
}

/** Sentences that state no rule, whatever words they contain, in any language. */
export const NO_RULES: readonly NoRule[] = [
  {
    // A question of understanding.
    pattern: new RegExp(
      String.raw`^(?!.*\bmake sure\b).*[, ](?:yeah|hey|right|no|correct|huh|yes|isn't it|doesn't it|oder|` +
        'nicht wahr|' +
        String.raw`non|verdad|no es así)\?$`,
      'i',
    ),
    examples: ["Q: we can't see a timeout from here, hey?", 'You must restart it, right?'],
    counterexamples: ['Can you never push, please?'],
  },
  {
    // A consequence, or how things seem.
    pattern: new RegExp(
      '^(?:so |and |but )?(?:this|that|it|which) (?:also )?(?:means|implies|(?:always |' +
        String.raw`never )?(?:seems|appears|looks))\b`,
      'i',
    ),
    examples: ['This means a hook can never be removed.', 'it always seems to be the same file'],
    counterexamples: ['This must not be removed.'],
  },
  {
    pattern: /\b(?:might|may) want to\b|\bso (?:that )?(?:we|i|you) (?:don't|dont|won't) (?:forget|lose|miss)\b/i,
    examples: ['We might want to improve it in future.', "add a note so we don't forget"],
    counterexamples: ['We want to keep it.'],
  },
  {
    // A command of the client, or a tool to use once.
    pattern: /^\/[\w:-]+(?:\s+\w+)?[.!]?$|\buse the [\w -]{0,40}\b(?:skill|agent|subagent|plugin|mcp)\b/i,
    examples: ['/plans:write first.', 'can you use the release test skill with two workers'],
    counterexamples: ['Always use the small model.'],
  },
  {
    // Text of a reviewer.
    pattern: /^consider (?:adding|changing|using|moving|extracting|removing|replacing|renaming|whether)\b/i,
    examples: ['Consider changing it so that only valid ids are parsed.'],
    counterexamples: ['Only consider valid ids.'],
  },
  {
    // A guess, a possibility, or what a change would take.
    pattern: new RegExp(
      String.raw`, which\b[^,]{0,80}\?$|(?:'d|\bwould) need to\b|\bmaybe (?:let's|we|you|i)\b|` +
        String.raw`^(?:though |but |so )?(?:that|this|it) (?:may|might|could) not\b|^i(?:'ve| have) (?:still |` +
        'just |' +
        String.raw`already )?(?:got|seen|noticed|had|been)\b`,
      'i',
    ),
    examples: [
      'we should join the lists, which is hard?',
      "we'd need to move the date",
      "actually maybe let's try it first",
      'though that may not clear the list',
      "I've still got a file, no entry in the list",
    ],
    counterexamples: ['We need to keep the date.', 'You may not clear the list.'],
  },
  {
    // A task for now.
    pattern: new RegExp(
      String.raw`\blet'?s also\b(?! (?:add|drop|keep|limit|hide|omit|leave|skip)\b)|` +
        '^(?:can|could|would) you (?:please )?(?:also )?(?:review|check|look|verify|' +
        String.raw`explain|investigate)\b`,
      'i',
    ),
    examples: ["Let's also look at the field.", 'can you review the tests that they do not repeat each other'],
    counterexamples: ["Let's only add a field.", 'Can you always check the tests?'],
  },
  {
    // Lines of a log.
    pattern: /^\w{3} +\d{1,2} \d\d:\d\d:\d\d\b|\|(?:DEBU|INFO|WARN|ERRO|TRAC)\w*\|/,
    examples: ['Mar  3 10:11:12.5 |DEBU| no branch yet component=a'],
    counterexamples: ['Mark it as done.'],
  },
  {
    // Work that the user takes on: that is a decision.
    pattern: new RegExp(
      "^(?:no,? |ok(?:ay)?,? |yes,? )?i(?:'ll| will) (?:do|handle|fix|test|merge|push|deploy) (?:it|" +
        String.raw`that|this)(?: \w+){0,3}[.!]?$`,
      'i',
    ),
    examples: ["I'll do that manually.", 'ok, I will merge it'],
    counterexamples: ["I'll tell you when to push."],
  },
  {
    // Japanese: a state, a wish to look into something, a remark on what would have been enough.
    pattern:
      /(?:常に|いつも|必ず|のみ|だけ).*(?:になっている|になってる|ている|てしまう|ました|でした)(?:。|$)|(?:なんとか|検証|確認|相談|質問|理解)したい|良かっ[たっ]/,
    examples: ['件数が常に 0 になっている。', 'この二つをなんとかしたい', '消すだけで良かった'],
    counterexamples: ['必ず順番を守ること。', 'サブの項目を必須にしたい'],
  },
]

/** Returns the demand of the first form that the sentence has. Null when it has none. */
export function demandByForm(sentence: string, language: Language): Demand | null {
  return CONSTRAINT_FORMS[language].find(({ pattern }) => pattern.test(sentence))?.demand ?? null
}
