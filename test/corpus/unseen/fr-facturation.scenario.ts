import type { Scenario } from '../build/day.js'

export default {
  name: 'fr-facturation',
  about: 'une facturation en Python, en français : consignes, un test qui reste rouge, une question ouverte',
  language: 'fr',
  cwd: '/home/claire/factures',
  branch: 'avoirs',
  start: '2026-11-02T08:05:00Z',
  day: (d) => {
    d.user(
      "Les avoirs n'apparaissent pas dans l'export comptable. Corrige ça s'il te plaît. Ne touche pas au module " +
        "paie, et n'ajoute aucune dépendance. Les messages de commit doivent toujours être en français.",
    )
      .never('Ne touche pas au module paie')
      .never("n'ajoute aucune dépendance")
      .must('Les messages de commit doivent toujours être en français')
    d.todos([
      ["Lire l'export", 'in_progress'],
      ['Inclure les avoirs', 'pending'],
      ['Vérifier le format FEC', 'pending'],
    ])
    d.read(
      'export.py',
      '"""Export FEC.\n\nIl ne faut jamais trier ces lignes.\n"""\n\ndef lignes(factures):\n' +
        '    return [f for f in factures if f.total > 0]\n',
    ).decoy('constraint', 'Il ne faut jamais trier ces lignes', 'une docstring')
    d.bash(
      'pytest tests/test_export.py',
      '============================= test session starts ==============================\ncollected 5 items\n\n' +
        'tests/test_export.py ..F.F                                               [100%]\n\n' +
        '=========================== short test summary info ============================\n' +
        'FAILED tests/test_export.py::test_avoir_inclus - assert 2 == 3\n' +
        "FAILED tests/test_export.py::test_total_negatif - assert Decimal('0') == Decimal('-12.00')\n" +
        '========================= 2 failed, 3 passed in 0.19s ==========================',
      {
        exit: 1,
        test: 'failed',
        fails: ['tests/test_export.py::test_avoir_inclus', 'tests/test_export.py::test_total_negatif'],
        error: 'assert 2 == 3',
      },
    )
    d.edit('export.py', 'if f.total > 0', 'if f.total != 0')
    d.todos([
      ["Lire l'export", 'completed'],
      ['Inclure les avoirs', 'completed'],
      ['Vérifier le format FEC', 'in_progress'],
    ])
    d.bash(
      'pytest tests/test_export.py',
      'tests/test_export.py ....F                                               [100%]\n\n' +
        '=========================== short test summary info ============================\n' +
        "FAILED tests/test_export.py::test_total_negatif - assert Decimal('12.00') == Decimal('-12.00')\n" +
        '========================= 1 failed, 4 passed in 0.18s ==========================',
      {
        exit: 1,
        test: 'failed',
        fails: ['tests/test_export.py::test_total_negatif'],
        passes: ['tests/test_export.py::test_avoir_inclus'],
      },
    )
    d.bash(
      'git commit -am "Inclure les avoirs dans l\'export"',
      "[avoirs 5f6a7b8] Inclure les avoirs dans l'export\n 1 file changed, 1 insertion(+), 1 deletion(-)",
      { commit: { id: '5f6a7b8', subject: "Inclure les avoirs dans l'export" } },
    )
    d.say(
      "Les avoirs sont exportés, mais un test échoue encore : le signe du total. J'ai choisi de garder le filtre " +
        'dans export.py plutôt que dans la requête, car la paie utilise la même requête. Faut-il un signe négatif ou ' +
        'une colonne crédit séparée ?',
    )
      .decides(
        "J'ai choisi de garder le filtre dans export.py plutôt que dans la requête, car la paie utilise la même " +
          'requête',
      )
      .asks('Faut-il un signe négatif ou une colonne crédit séparée ?', 'open')
  },
} satisfies Scenario
