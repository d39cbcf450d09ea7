import type { Scenario } from '../build/day.js'

export default {
  name: 'design-tokens',
  about:
    'design tokens: a picture, files written by scripts and by hand, several commits, a rule that looks like none ' +
    'and words that look like rules',
  cwd: '/home/ivy/tokens',
  branch: 'main',
  start: '2026-11-15T10:00:00Z',
  day: (d) => {
    d.user(
      'The greys in this screenshot do not match the tokens. Find out which is right. Nobody but the design team ' +
        'may change colors.json, so treat it as read-only.',
      { image: true },
    )
      .never('Nobody but the design team may change colors.json')
      .must('treat it as read-only')
    d.read('colors.json', '{ "grey": { "500": "#7a7a7a", "$comment": "do not use on dark" } }\n').decoy(
      'constraint',
      'do not use on dark',
      'text of a file',
    )
    d.read('build/css.mjs', "import fs from 'node:fs'\n\nfs.writeFileSync('dist/tokens.css', render())\n")
    d.bash('node build/css.mjs && grep grey dist/tokens.css', '--grey-500: #7b7b7b;', { scratch: ['dist/tokens.css'] })
    d.say(
      'The tokens are right, the CSS is off by one: the build rounds each channel up. I could not have guessed ' +
        'that, must be an old workaround. What was the rounding for, do you remember?',
    )
      .asks('What was the rounding for, do you remember?', 'answered')
      .decoy('constraint', 'must be an old workaround', 'a guess of the agent')
    d.user(
      "some e-ink display, long gone. drop it. I can't believe nobody noticed, we must have looked at it a hundred " +
        'times!',
    )
      .settles('drop it')
      .decoy('constraint', 'we must have looked at it a hundred times', 'no rule')
      .decoy('constraint', "I can't believe nobody noticed", 'no rule')
    d.edit('build/css.mjs', 'render()', 'render({ round: false })')
    d.bash(
      'npm run build 2>&1 | tee build.log',
      '> tokens@8.0.1 build\n> node build/css.mjs\n\nwrote dist/tokens.css (212 tokens)',
      { scratch: ['build.log', 'dist/tokens.css'] },
    )
    d.bash(
      'npx ava',
      '\n  ✔ css › writes every token\n  ✘ [fail]: ios › rounds to sRGB Difference\n  ─\n\n' +
        '  ios › rounds to sRGB\n\n  test/ios.test.js:9\n\n  Difference (- actual, + expected):\n\n  - 0.478\n' +
        '  + 0.48\n\n  1 test failed',
      { exit: 1, test: 'failed', fails: ['ios › rounds to sRGB'], passes: ['css › writes every token'] },
    )
    d.write('build/ios.mjs', 'export const precision = 2\n', {
      say:
        'iOS still needs two decimals. I keep the rounding there and only there, because UIColor is compared by ' +
        'value in their snapshots.',
    }).decides('I keep the rounding there and only there, because UIColor is compared by value in their snapshots')
    d.bash('npx ava', '\n  ✔ css › writes every token\n  ✔ ios › rounds to sRGB\n  ─\n\n  2 tests passed', {
      test: 'passed',
      passes: ['css › writes every token', 'ios › rounds to sRGB'],
    })
    d.bash(
      'git add build/css.mjs && git commit -m "css: no rounding" && git add build/ios.mjs && git commit -m "ios: ' +
        'round to two decimals"',
      '[main 7070701] css: no rounding\n 1 file changed, 1 insertion(+), 1 deletion(-)\n' +
        '[main 7070702] ios: round to two decimals\n 1 file changed, 1 insertion(+)\n' +
        ' create mode 100644 build/ios.mjs',
      { commit: { id: '7070702', subject: 'ios: round to two decimals' } },
    ).alsoCommitted('css: no rounding', '7070701')
    d.say('Two commits, colors.json is untouched.')
    d.local('model', 'opus', 'Set model to opus')
    d.user(
      'for the next release we need dark greys too. Be careful to keep the contrast at 4.5:1 or better, and ' +
        'whatever happens, the token names stay. Any idea who maintains the Figma export?',
    )
      .must('keep the contrast at 4.5:1 or better')
      .must('the token names stay')
      .wonders('Any idea who maintains the Figma export?', 'open')
    d.todos([
      ['Propose dark greys', 'in_progress'],
      ['Check the contrast of each pair', 'pending'],
      ['Regenerate iOS and Android', 'pending'],
    ])
    d.write('proposals/dark-greys.md', '# Dark greys\n\n- [ ] ask design\n- [ ] never below 4.5:1\n')
      .decoy('todo', 'ask design', 'a list in a file')
      .decoy('constraint', 'never below 4.5:1', 'written by the agent')
    d.bash(
      'node build/contrast.mjs proposals/dark-greys.md',
      'grey-900 on grey-100: 12.1\ngrey-700 on grey-200: 4.4 (too low)',
      {
        exit: 1,
        error: 'grey-700 on grey-200: 4.4 (too low)',
      },
    )
    d.todos([
      ['Propose dark greys', 'completed'],
      ['Check the contrast of each pair', 'in_progress'],
      ['Regenerate iOS and Android', 'pending'],
    ])
  },
} satisfies Scenario
