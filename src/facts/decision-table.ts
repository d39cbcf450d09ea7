import { ENGLISH_FORMS } from './decision-english.js'
import type { DecisionForm } from './decision-form.js'
import { ENGLISH_CHOICES } from './english-choices.js'
import type { Language } from './language.js'

/**
 * Forms per language. English and Japanese were measured on real sessions.
 * The forms of other languages are built from examples alone.
 */
export const DECISION_FORMS: Record<Language, readonly DecisionForm[]> = {
  en: [...ENGLISH_FORMS, ...ENGLISH_CHOICES],
  ja: [
    {
      by: 'user',
      asks: true,
      pattern:
        /では(?:ない(?:か|の|です)|？|\?)|じゃない(?:か|の|？|\?)|(?<!どう)(?:したら|すれば|の方が|のほうが)(?:良|よ|い)/,
      examples: ['次は三番では？', '別の名前にしたらよくない？', '小さい方がいいのでは？'],
      counterexamples: ['これは何ですか？'],
    },
    {
      by: 'user',
      pattern: new RegExp(
        '(?:で|が|は)(?:いい|良い|よい|OK)(?:です|よ|。|$)|にし(?:ておい|よう|ましょう)|(?:名前|名)(?:は|を).{1,20}(?:に|で)|' +
          'やめ(?:て|よう|る|ます)|(?:違|ちが)(?:う|います)|(?:不要|要らない|いらない)|なしで|採用で|でお願い|で(?:進め|行こう|いこう|やろう)',
      ),
      examples: ['案二でいい', '名前は倉庫にしよう', 'それはやめよう', '三番でお願いします', 'この順で進めて'],
      counterexamples: ['ログを見せて'],
    },
    {
      by: 'agent',
      pattern:
        /(?:に(?:まとめ|統一し|フォールバックし)|で対応し|を使い|する(?:修正|方針|形)|を強制する|で推定)(?:ます|です|。|$|を行います|のが)/,
      examples: ['設定は一つのファイルにまとめます。', '並列で対応します。'],
      counterexamples: ['ファイルを読みます。'],
    },
    {
      by: 'user',
      pattern: new RegExp(
        '^(?:(?:いや)+|違う|ちがう|そうじゃなくて|そうではなく)(?:[、,。 ]|別に|それ|そこ).{6,}|' +
          'すべき(?:です|だ|かな|。|$)|(?<!どう)にしたい(?:かな|です|ので|な|。|、|$)|の?代わりに|って言っ(?:た|て)|' +
          '(?:を使うように|に置き換え|に変え|に変更|に切り替え|に移行)(?:して|るように|てほしい|てください|よう|て$)',
      ),
      examples: [
        'いや、直しておくべきだった',
        '先に整理すべき',
        '見出しは上にしたい',
        'いや別に印は付けなくても動くよ',
        '一覧の代わりに表',
        'ここに置けって言ってる',
        '新しい道具を使うようにして',
      ],
      counterexamples: ['何にしたいの？', 'ログを見せて', '何か言ってみて'],
    },
    {
      by: 'agent',
      pattern: new RegExp(
        '(?:推奨し|お勧めし|任せ|見送り|で進め|で切り|を維持し|に従い)ます|任せましょう|推奨です|現状維持|' +
          '(?:後日|別(?:の|途)?(?:フィーチャー|PR|Issue|タスク|ブランチ)(?:として|で))|' +
          '(?:行い|変更し|含め|追加し|採用し)ません(?:。|（|$)|(?:が|方が)(?:良い|よい|いい|最適|妥当|適切|自然)です|' +
          '原因(?:です|でした)|原因は.{4,120}(?:です|でした)|(?:は|が)不要(?:です|でした)|必要は?ありません|' +
          'だけ(?:を|が)?(?:残|消|削除|変更|修正|更新|直)(?:す|し)|に移行しま',
      ),
      examples: [
        '二つ目の方法を推奨します。',
        '後片付けは仕組みに任せましょう。',
        '削除は別PRで対応します。',
        'ここからは送信を行いません。',
        '現実的には一つ目が良いです。',
        '古い鍵が原因です。',
        '二つ目の一覧は不要でした。',
        '最後の行だけ消します。',
      ],
      counterexamples: ['ファイルを読みます。', '結果を確認します。'],
    },
    {
      by: 'agent',
      pattern: new RegExp(
        String.raw`\*\*[^*]{1,40}\*\*[^。*]{0,12}(?:です|だと思います)(?:。|$)|(?:スコープ外|対象外|Out of Scope) ?(?:に|と)し(?:ます|て)|` +
          '(?:使う|使用する|変更する|指定する)必要があり(?:ます|、)|(?:対象|形|設定|方式|方針|指示|構成|仕様)に(?:し(?:ました|ます|てい)|変更し)|' +
          '場合は.{2,60}(?:のみ|しない)(?:。|$|、)',
        'i',
      ),
      examples: [
        '答えは **二番目** です。',
        '履歴は対象外にします。',
        '新しい版では別の名前を使う必要があります。',
        '一覧だけを対象にしました。',
        '失敗した場合は再送しない',
      ],
      counterexamples: ['これは**重要**な点なので読みます', '確認する必要があります'],
    },
  ],
  zh: [
    {
      by: 'user',
      asks: true,
      pattern: /(?:为什么不|为何不|要不(?:要)?|不如|是不是(?:应该|可以))/,
      examples: ['为什么不用缓存？', '不如放在内存里'],
      counterexamples: ['为什么失败了？'],
    },
    {
      by: 'user',
      pattern:
        /(?:就|那)(?:用|选|按|这样)|选(?:择)?(?:方案|选项|第)|(?:改成|换成|改为|换为)|不用了|算了|先这样|我(?:来|自己)(?:做|改|处理)/,
      examples: ['就用第二个', '选方案二', '改成异步的', '这个我来处理'],
      counterexamples: ['用了多久'],
    },
    {
      by: 'agent',
      pattern: /(?:根本原因|原因)(?:是|在于)|(?:最(?:简单|好|干净)的(?:方案|做法|办法))是|因此(?:采用|使用|选择|改为)/,
      examples: ['根本原因是索引过期。', '最简单的方案是复用旧表。'],
      counterexamples: ['我来看看日志。'],
    },
  ],
  ko: [
    {
      by: 'user',
      asks: true,
      pattern: /(?:왜 .{1,30}(?:안|않)|하는 게 (?:낫|좋)|하면 안 (?:될까|돼)|쓰면 안)/u,
      examples: ['왜 캐시를 쓰지 않아?', '나누는 것보다 합쳐서 하는 게 낫지 않아?'],
      counterexamples: ['왜 실패했어?'],
    },
    {
      by: 'user',
      pattern:
        /(?:으로|로) (?:하자|해줘|가자|할게|바꿔|변경)|(?:번|안)(?:으로|로)|(?:그냥|대신) .{1,30}(?:하자|해줘|쓰자)|내가 (?:할게|직접)/u,
      examples: ['두 번째 안으로 하자', '그냥 이대로 쓰자', '이건 내가 직접 고칠게'],
      counterexamples: ['로그를 보여줘'],
    },
    {
      by: 'agent',
      pattern:
        /(?:원인은|이유는) .{2,80}(?:입니다|이다|때문)|(?:가장 (?:간단|좋|깔끔)한 (?:방법|해결책)은)|(?:대신|때문에) .{2,60}(?:사용합니다|하겠습니다|했습니다)/u,
      examples: ['원인은 오래된 색인입니다.', '가장 간단한 방법은 재사용입니다.'],
      counterexamples: ['로그를 확인하겠습니다.'],
    },
  ],
  de: [
    {
      by: 'user',
      asks: true,
      pattern:
        /\b(?:warum nicht|wieso nicht|können wir nicht|könnten wir nicht|sollten wir nicht|wäre es nicht)(?!\p{L})/iu,
      examples: ['Warum nicht im Speicher halten?', 'Könnten wir nicht die alte Tabelle nehmen?'],
      counterexamples: ['Warum geht das nicht?'],
    },
    {
      by: 'user',
      pattern: new RegExp(
        String.raw`(?<!\p{L})(?:(?:nehmen|machen|lassen|behalten|verwenden|nutzen) wir(?! uns)|wir (?:nehmen|` +
          'machen|lassen|' +
          'bleiben|behalten)|(?:variante|option|vorschlag|lösung) (?:[a-d1-4]|eins|zwei|drei)|dann lieber|' +
          'doch (?:lieber|besser)|das mache ich (?:selbst|von hand)|ich (?:würde|bin dafür)|' +
          String.raw`zurück zu[rm]?)(?!\p{L})`,
        'iu',
      ),
      examples: ['Nehmen wir Variante B.', 'Das mache ich selbst.', 'Dann lieber ohne Cache.'],
      counterexamples: ['Was kommt als Nächstes?'],
    },
    {
      by: 'agent',
      pattern: new RegExp(
        String.raw`(?<!\p{L})(?:die ursache (?:ist|war|liegt)|(?:die|der) (?:einfachste|sauberste|beste|sicherste) ` +
          String.raw`(?:lösung|weg|ansatz)|ist nicht nötig|(?:brauchen|braucht) (?:es )?kein\p{L}*)(?!\p{L})`,
        'iu',
      ),
      examples: ['Die Ursache ist ein alter Index.', 'Der einfachste Weg ist eine zweite Spalte.'],
      counterexamples: ['Ich sehe mir die Datei an.'],
    },
  ],
  fr: [
    {
      by: 'user',
      asks: true,
      pattern: /(?:pourquoi (?:ne )?pas|et si on|on ne (?:peut|pourrait|devrait) pas|ne vaudrait-il pas)/i,
      examples: ['Pourquoi pas garder la liste ?', 'Et si on gardait la table ?'],
      counterexamples: ['Pourquoi ça échoue ?'],
    },
    {
      by: 'user',
      pattern: new RegExp(
        String.raw`(?<!\p{L})(?:on (?:part|reste|garde|prend|utilise|va)(?: sur| avec)?|(?:prends|prenons|` +
          'gardons|utilisons|' +
          "restons)|(?:l['’])?option (?:[a-d1-4])|plutôt (?:que|le|la|les|un)|je (?:m['’]en occupe|" +
          'le ferai)|' +
          String.raw`revenons)(?!\p{L})`,
        'iu',
      ),
      examples: ['On part sur la deuxième.', "Prenons l'option 2.", "Je m'en occupe."],
      counterexamples: ['Montre le journal.'],
    },
    {
      by: 'agent',
      pattern:
        /(?:la cause (?:est|vient)|la solution la plus (?:simple|propre|sûre)|n['’]est pas nécessaire|inutile de)/i,
      examples: ['La cause est un index périmé.', 'La solution la plus simple est une colonne.'],
      counterexamples: ['Je lis le fichier.'],
    },
  ],
  es: [
    {
      by: 'user',
      asks: true,
      pattern: /(?:por qué no|y si|no (?:podemos|podríamos|deberíamos)|no sería mejor)(?!\p{L})/iu,
      examples: ['¿Por qué no guardar la lista?', '¿No sería mejor una tabla?'],
      counterexamples: ['¿Por qué falla?'],
    },
    {
      by: 'user',
      pattern: new RegExp(
        String.raw`(?<!\p{L})(?:(?:vamos|quedémonos|sigamos) con|(?:usemos|dejemos|hagamos|mantengamos|volvamos)|` +
          String.raw`(?:la )?opción (?:[a-d1-4])|mejor (?:con|sin|usar|dejar)|lo (?:hago|haré) yo)(?!\p{L})`,
        'iu',
      ),
      examples: ['Vamos con la segunda.', 'La opción 2.', 'Eso lo hago yo.'],
      counterexamples: ['Muestra el registro.'],
    },
    {
      by: 'agent',
      pattern: /(?:la causa (?:es|está)|la solución más (?:simple|limpia|segura)|no (?:es necesario|hace falta))/i,
      examples: ['La causa es un índice viejo.', 'La solución más simple es una columna.'],
      counterexamples: ['Leo el archivo.'],
    },
  ],
  ru: [
    {
      by: 'user',
      pattern: new RegExp(
        String.raw`(?<!\p{L})(?:давай(?:те)? (?:оставим|возьмём|сделаем|вернёмся|используем)|вариант (?:[а-г]|` +
          String.raw`\d)|я сам[а]?)(?!\p{L})`,
        'iu',
      ),
      examples: ['Давай оставим так.', 'Вариант 2.'],
      counterexamples: ['Покажи журнал.'],
    },
    {
      by: 'agent',
      pattern: /(?<!\p{L})(?:причина в|самое простое решение|не нужн[оаы])(?!\p{L})/iu,
      examples: ['Причина в старом индексе.'],
      counterexamples: ['Читаю файл.'],
    },
  ],
}

/** Cheap first test: a text without a match contains none of the table's forms for an agent. */
export const MAY_STATE = new RegExp(
  String.raw`[^\x00-\x7f]|\*\*|let me|i'll|i will|(?:we|i) (?:can|could) |need|rule|principle|recommend|propos|` +
    'decision|conclusion|resolution|takeaway|required|refinement|must fix|should|suggest|theirs|ours|version|' +
    'leaving|keeping|changes? |diff|warning|behavio|fixes|solves|resolves|avoids|prevents|cleanest|simplest|safest|' +
    'most (?:robust|natural|sensible)|essentially|effectively|basically|no longer|bug|cause|problem|culprit|lean|' +
    'favou?r|prefer|go with|option|approach|variant| than |the fix|this fix|solution|wrong|incorrectly|safe|' +
    'sufficient|enough|overkill|unnecessary|redundant|premature|legitimate|intentional|by design|leave|keep|' +
    "purpose|already|never|n't|will not|not |can't|cannot|couldn't|agree|ah, |oh, |actually|item|" +
    'comment|point|caveat|finding|remark|safety net|different|distinct|handles?',
  'i',
)

interface StatedSentence {
  text: string
  question: boolean
}

/** True when a sentence states a choice in a form of the table. */
export function hasDecisionForm(
  { text, question }: StatedSentence,
  by: DecisionForm['by'],
  language: Language,
  beforeChange = false,
): boolean {
  return DECISION_FORMS[language].some(
    (form) =>
      form.by === by &&
      (!question || form.asks === true) &&
      (form.beforeChange === true) === beforeChange &&
      form.pattern.test(text),
  )
}

/** Prompts that accept what the agent proposed, and say nothing else. */
export const AGREES = new RegExp(
  String.raw`^\s*(?:(?:yes|yep|yeah|yup|ok(?:ay)?|sure|absolutely|definitely|agreed?|perfect|great|correct|` +
    'exactly|cool|' +
    'fine|lgtm|sgtm|sounds (?:good|great|right)|go ahead|go for it|do (?:it|that|so)|please(?: do)?|' +
    'works for me|' +
    "let'?s do (?:it|that)|that works|make it so|ship it|good idea|i agree|はい|お願い(?:します|いたします)?|いいね|いいです|" +
    'それで(?:お願いします|いい|OK)?|了解|進めて(?:ください)?|네|예|좋아(?:요)?|그래|진행해(?:줘)?|好(?:的|啊)?|可以|是的|行|同意|继续|' +
    "ja|genau|gerne|mach das|einverstanden|oui|d'accord|vas-y|parfait|sí|si|vale|dale|de acuerdo|" +
    'adelante|да|давай)' +
    String.raw`[\s,.!。！、:)]*){1,5}$`,
  'iu',
)
