import type { Scenario } from '../build/day.js'

export default {
  name: 'ja-batch',
  about: '夜間バッチの修正（Java、Gradle）、日本語の指示',
  language: 'ja',
  cwd: '/home/sato/batch',
  branch: 'develop',
  start: '2026-10-21T01:10:00Z',
  day: (d) => {
    d.user(
      '夜間バッチがメモリ不足で落ちます。原因を調べて直してください。設定ファイル application.yml は絶対に変更しないでください。ログは必ず日本語で出力してください。',
    )
      .never('設定ファイル application.yml は絶対に変更しないでください')
      .must('ログは必ず日本語で出力してください')
    d.read(
      'src/main/java/jp/example/NightlyJob.java',
      'class NightlyJob {\n    // 注意: このメソッドを並列で呼ばないこと\n    void run() {\n' +
        '        List<Row> rows = repository.findAll();\n        rows.forEach(this::process);\n    }\n}\n',
    ).decoy('constraint', 'このメソッドを並列で呼ばないこと', 'ソースのコメント')
    d.bash(
      './gradlew test',
      '> Task :compileJava UP-TO-DATE\n> Task :test FAILED\n\nNightlyJobTest > 大量の行でも落ちない() FAILED\n' +
        '    java.lang.OutOfMemoryError at NightlyJobTest.java:33\n\n12 tests completed, 1 failed\n\n' +
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':test'.\n" +
        '> There were failing tests. See the report at: ' +
        'file:///home/sato/batch/build/reports/tests/test/index.html\n\nBUILD FAILED in 14s',
      {
        exit: 1,
        test: 'failed',
        fails: ['NightlyJobTest > 大量の行でも落ちない()'],
        error: 'java.lang.OutOfMemoryError',
      },
    )
    d.edit(
      'src/main/java/jp/example/NightlyJob.java',
      'List<Row> rows = repository.findAll();\n        rows.forEach(this::process);',
      'try (Stream<Row> rows = repository.streamAll()) {\n            rows.forEach(this::process);\n        }',
    )
    d.bash(
      './gradlew test',
      '> Task :compileJava\n> Task :test\n\nBUILD SUCCESSFUL in 11s\n4 actionable tasks: 2 executed, 2 up-to-date',
      { test: 'passed', passes: ['NightlyJobTest > 大量の行でも落ちない()'] },
    )
    d.bash(
      'git commit -am "夜間バッチをストリーム処理に変更"',
      '[develop 0a9b8c7] 夜間バッチをストリーム処理に変更\n 1 file changed, 3 insertions(+), 2 deletions(-)',
      { commit: { id: '0a9b8c7', subject: '夜間バッチをストリーム処理に変更' } },
    )
    d.say(
      'findAll で全件を読み込んでいたのが原因でした。ストリームで処理するようにし、テストはすべて通りました。本番のヒープサイズも教えていただけますか？',
    ).asks('本番のヒープサイズも教えていただけますか？', 'open')
  },
} satisfies Scenario
