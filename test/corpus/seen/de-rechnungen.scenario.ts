import type { Scenario } from '../build/day.js'

export default {
  name: 'de-rechnungen',
  about: 'Rechnungen in PHP, auf Deutsch: Vorgaben, eine offene Frage, PHPUnit',
  language: 'de',
  cwd: '/var/www/rechnung',
  branch: 'main',
  start: '2026-10-19T08:00:00Z',
  day: (d) => {
    d.user(
      'Die Mehrwertsteuer wird bei Gutschriften falsch gerundet. Bitte korrigieren. Die Datenbank darf nicht ' +
        'geändert werden, und bitte keine neuen Composer-Pakete. Kommentare im Code immer auf Englisch.',
    )
      .never('Die Datenbank darf nicht geändert werden')
      .never('keine neuen Composer-Pakete')
      .must('Kommentare im Code immer auf Englisch')
    d.todos([
      ['Rundung in Gutschrift.php prüfen', 'in_progress'],
      ['Test für negative Beträge schreiben', 'pending'],
      ['Changelog ergänzen', 'pending'],
    ])
    d.read(
      'src/Gutschrift.php',
      '<?php\n// Achtung: niemals Beträge als float speichern!\nfinal class Gutschrift\n{\n' +
        '    public function steuer(int $cent, int $satz): int\n    {\n' +
        '        return (int) floor($cent * $satz / 100);\n    }\n}\n',
    ).decoy('constraint', 'niemals Beträge als float speichern', 'ein Kommentar im Quelltext')
    d.bash(
      'vendor/bin/phpunit',
      'PHPUnit 11.2.0 by Sebastian Bergmann and contributors.\n\n' +
        '..F.....                                                            8 / 8 (100%)\n\n' +
        'Time: 00:00.051, Memory: 8.00 MB\n\nThere was 1 failure:\n\n1) Tests\\GutschriftTest::testNegativeBetraege\n' +
        'Failed asserting that -20 matches expected -19.\n\n/var/www/rechnung/tests/GutschriftTest.php:27\n\n' +
        'FAILURES!\nTests: 8, Assertions: 14, Failures: 1.',
      {
        exit: 1,
        test: 'failed',
        fails: ['Tests\\GutschriftTest::testNegativeBetraege'],
        error: 'Failed asserting that -20 matches expected -19',
      },
    )
    d.edit(
      'src/Gutschrift.php',
      '(int) floor($cent * $satz / 100)',
      '(int) round($cent * $satz / 100, 0, PHP_ROUND_HALF_UP)',
    )
    d.bash(
      'vendor/bin/phpunit',
      'PHPUnit 11.2.0 by Sebastian Bergmann and contributors.\n\n' +
        '........                                                            8 / 8 (100%)\n\n' +
        'OK (8 tests, 14 assertions)',
      { test: 'passed', passes: ['Tests\\GutschriftTest::testNegativeBetraege'] },
    )
    d.todos([
      ['Rundung in Gutschrift.php prüfen', 'completed'],
      ['Test für negative Beträge schreiben', 'completed'],
      ['Changelog ergänzen', 'in_progress'],
    ])
    d.say(
      'Die Rundung stimmt jetzt, alle acht Tests laufen durch. Ich habe mich für kaufmännisches Runden ' +
        'entschieden, weil das Finanzamt es so verlangt. Soll die Korrektur auch für alte Gutschriften gelten?',
    )
      .decides('Ich habe mich für kaufmännisches Runden entschieden, weil das Finanzamt es so verlangt')
      .asks('Soll die Korrektur auch für alte Gutschriften gelten?', 'open')
    d.user('Das klären wir mit der Buchhaltung. Committe es schon mal, aber push bitte nichts.').never(
      'push bitte nichts',
    )
    d.bash(
      'git commit -am "Gutschriften kaufmännisch runden"',
      '[main 1d2e3f4] Gutschriften kaufmännisch runden\n 1 file changed, 1 insertion(+), 1 deletion(-)',
      { commit: { id: '1d2e3f4', subject: 'Gutschriften kaufmännisch runden' } },
    )
    d.say('Erledigt: 1d2e3f4. Es wurde nichts gepusht.')
  },
} satisfies Scenario
