import type { Scenario } from '../build/day.js'

export default {
  name: 'mixed-merge-day',
  about: 'ein Tag mit Merges, halb deutsch, halb englisch: Zusammenführen, Rebase, Worktree, Cherry-Pick, Push',
  language: 'mixed',
  cwd: '/home/uli/cms',
  branch: 'develop',
  start: '2026-10-28T09:15:00Z',
  day: (d) => {
    d.user(
      'Bitte feature/tags in develop mergen, merge commit bitte, no fast-forward. Force push ist verboten, und ' +
        'never touch the branch `main`.',
    )
      .must('no fast-forward')
      .never('Force push ist verboten')
      .never('never touch the branch `main`')
    d.bash(
      'git merge --no-ff feature/tags',
      'Auto-merging src/tags.js\nCONFLICT (content): Merge conflict in src/tags.js\n' +
        'Automatic merge failed; fix conflicts and then commit the result.',
      { exit: 1, error: 'Merge conflict in src/tags.js' },
    )
    d.read('src/tags.js', '<<<<<<< HEAD\nexport const max = 10\n=======\nexport const max = 25\n>>>>>>> feature/tags\n')
    d.ask('max is 10 on develop and 25 on feature/tags. Which one shall stay?', ['10', '25'], '25')
    d.write('src/tags.js', 'export const max = 25\n')
    d.bash(
      'git add src/tags.js && git commit --no-edit',
      "[develop 4c5d6e7] Merge branch 'feature/tags' into develop",
      {
        commit: { id: '4c5d6e7', subject: "Merge branch 'feature/tags' into develop" },
      },
    )
    d.bash('npm test', '> cms@5.1.0 test\n> mocha\n\n  tags\n    ✔ splits\n    ✔ limits to 25\n\n  2 passing (6ms)', {
      test: 'passed',
      passes: ['splits', 'limits to 25'],
    })
    d.bash(
      'git push origin develop',
      'To git.example.org:cms/cms.git\n ! [rejected]        develop -> develop (fetch first)\n' +
        "error: failed to push some refs to 'git.example.org:cms/cms.git'\n" +
        'hint: Updates were rejected because the remote contains work that you do not have locally.',
      { exit: 1, error: '[rejected]        develop -> develop (fetch first)' },
    ).decoy('constraint', 'work that you do not have locally', 'output of git')
    d.bash(
      'git pull --rebase=merges && git push origin develop',
      'Successfully rebased and updated refs/heads/develop.\nTo git.example.org:cms/cms.git\n' +
        '   90aa1fe..a7b8c9d  develop -> develop',
    )
    d.bash(
      'git worktree add ../cms-hotfix -b hotfix/feed',
      "Preparing worktree (new branch 'hotfix/feed')\nHEAD is now at a7b8c9d Merge branch 'feature/tags' into develop",
      { otherBranch: 'hotfix/feed' },
    )
    d.read('/home/uli/cms-hotfix/src/feed.js', "export const feed = () => '<rss/>'\n")
    d.edit('/home/uli/cms-hotfix/src/feed.js', "'<rss/>'", '\'<rss version="2.0"/>\'')
    d.bash(
      'git -C ../cms-hotfix commit -am "feed: declare the rss version"',
      '[hotfix/feed 11aa22b] feed: declare the rss version\n 1 file changed, 1 insertion(+), 1 deletion(-)',
      { commit: { id: '11aa22b', subject: 'feed: declare the rss version' } },
    )
    d.bash(
      'git cherry-pick 11aa22b',
      '[develop 33cc44d] feed: declare the rss version\n Date: Wed Oct 28 10:02:41 2026 +0100\n' +
        ' 1 file changed, 1 insertion(+), 1 deletion(-)',
    )
    d.bash(
      'git revert --no-edit 33cc44d',
      '[develop 55ee66f] Revert "feed: declare the rss version"\n Date: Wed Oct 28 10:09:00 2026 +0100\n' +
        ' 1 file changed, 1 insertion(+), 1 deletion(-)',
      { commit: { id: '55ee66f', subject: 'Revert "feed: declare the rss version"' } },
    )
    d.say(
      'Merge und Hotfix sind fertig. Den Cherry-Pick habe ich zurückgenommen, weil develop den Feed anders baut.',
    ).mayDecide('Den Cherry-Pick habe ich zurückgenommen, weil develop den Feed anders baut')
    d.user('ok danke! Was ist eigentlich mit dem alten Branch feature/labels, can it go?').wonders('can it go?', 'open')
    d.bash('git log --oneline develop..feature/labels', 'e0e0e0e labels: first try\nd1d1d1d labels: model').decoy(
      'commit',
      'labels: first try',
      'listed by git log',
    )
  },
} satisfies Scenario
