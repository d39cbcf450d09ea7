import type { Scenario } from '../build/day.js'

export default {
  name: 'interrupted-refactor',
  about:
    'a day of interruptions: stopped answers and tools, a picture, commands of the project and of the client, ' +
    'lines run with !',
  cwd: '/home/jo/dashboard',
  branch: 'main',
  start: '2026-10-22T08:50:00Z',
  day: (d) => {
    d.user(
      'see the screenshot: the legend overlaps the chart on narrow screens. fix it, css only, please leave the ' +
        'chart component itself alone',
      { image: true },
    )
      .must('css only')
      .never('please leave the chart component itself alone')
    d.read('src/chart/legend.css', '.legend { position: absolute; right: 0; }\n/* never set a z-index here */\n').decoy(
      'constraint',
      'never set a z-index here',
      'a comment',
    )
    d.cutOff('I think the best way is to restructure the whole Chart component so that it')
    d.user('no, stop. I said the component stays. Just a media query.')
      .must('Just a media query')
      .mayBind('I said the component stays')
    d.edit(
      'src/chart/legend.css',
      'right: 0; }',
      'right: 0; }\n@media (max-width: 480px) {\n  .legend { position: static; }\n}',
    )
    d.interrupted('npx playwright test --project=mobile', { say: 'I run the mobile tests.' })
    d.user("those take 20 minutes, don't run playwright locally. CI does that.").never("don't run playwright locally")
    d.bash('npx stylelint src/chart/legend.css', '')
    d.say('The legend moves below the chart up to 480 px. Stylelint is quiet.')
    d.bang('git commit --allow-empty -m "mark the demo"', '[main 0dd0dd0] mark the demo').mayCommit(
      'mark the demo',
      '0dd0dd0',
    )
    d.say('Noted, an empty commit on top.')
    d.command(
      'ship',
      'legend',
      'Ship the change named legend.\n\nAlways bump the version. Never skip the changelog.\n1. run the linter\n' +
        '2. commit\n',
    )
      .decoy('constraint', 'Always bump the version', 'the text a command stands for')
      .decoy('constraint', 'Never skip the changelog', 'the text a command stands for')
    d.read('CHANGELOG.md', '# Changelog\n\n## Unreleased\n')
    d.edit(
      'CHANGELOG.md',
      '## Unreleased\n',
      '## Unreleased\n\n- The legend no longer overlaps the chart on narrow screens\n',
    )
    d.bash('npm version patch --no-git-tag-version', 'v1.8.4', { scratch: ['package.json', 'package-lock.json'] })
    d.bash(
      'git add -A && git commit -m "Legend below the chart on narrow screens"',
      '[main 2b3c4d5] Legend below the chart on narrow screens\n 4 files changed, 9 insertions(+), 3 deletions(-)',
      { commit: { id: '2b3c4d5', subject: 'Legend below the chart on narrow screens' } },
    )
    d.say('Shipped as 2b3c4d5.')
    d.local('cost', '', 'Total cost: $0.42')
    d.user('Which browsers did you have in mind for the 480px limit?').wonders(
      'Which browsers did you have in mind for the 480px limit?',
      'open',
    )
    d.cutOff('Good quest')
  },
} satisfies Scenario
