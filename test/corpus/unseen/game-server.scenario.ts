import type { Scenario } from '../build/day.js'

export default {
  name: 'game-server',
  about:
    'a game server in Go over several turns: rules in a list and in passing, tasks, a hook that refuses a commit, ' +
    'a revert',
  cwd: '/home/zoe/arena',
  branch: 'main',
  start: '2026-11-14T19:00:00Z',
  day: (d) => {
    d.user(`Matchmaking is too slow. Goals and rules:

1. a match within 5 s for 95 % of players
2. do not break the wire protocol
3. stay on Go 1.21
4. avoid global state

Start by profiling.`)
      .mayBind('a match within 5 s for 95 % of players')
      .never('do not break the wire protocol')
      .must('stay on Go 1.21')
      .never('avoid global state')
    d.task('Profile the matcher')
    d.task('Bucket players by rating')
    d.task('Load test with 10k players')
    d.taskIs(1, 'in_progress')
    d.bash(
      'go test ./match -bench Match -cpuprofile cpu.out',
      'BenchmarkMatch-8   	     121	   9812345 ns/op\nPASS\nok  	example.org/arena/match	2.101s',
      { test: 'passed', scratch: ['cpu.out'] },
    )
    d.bash(
      'go tool pprof -top cpu.out | head -4',
      'Showing nodes accounting for 1.92s, 94% of 2.04s total\n      flat  flat%\n     1.71s 83.82%  sort.Slice',
    )
    d.taskIs(1, 'completed')
    d.say(
      '84 % of the time is sorting all waiting players for every match. Buckets by rating would remove that. OK to ' +
        'change the internal Queue interface?',
    ).asks('OK to change the internal Queue interface?', 'answered')
    d.user('sure, it is internal. but every exported name needs a doc comment, our linter is strict').must(
      'every exported name needs a doc comment',
    )
    d.bash('git checkout -q -b buckets', '', { branch: 'buckets' })
    d.taskIs(2, 'in_progress')
    d.read(
      'match/queue.go',
      'package match\n\n// Queue must only be used from one goroutine.\ntype Queue struct{ waiting []Player }\n',
    ).decoy('constraint', 'Queue must only be used from one goroutine', 'a comment')
    d.write(
      'match/bucket.go',
      'package match\n\n// Bucket holds players of similar rating.\ntype Bucket struct{ players []Player }\n\n' +
        'func (b *Bucket) Add(p Player) { b.players = append(b.players, p) }\n',
    )
    d.edit('match/queue.go', 'waiting []Player', 'buckets map[int]*Bucket')
    d.bash(
      'go build ./... && go test ./match',
      '# example.org/arena/match\nmatch/queue.go:31:12: q.waiting undefined (type *Queue has no field or method ' +
        'waiting)',
      { exit: 1, test: 'failed', error: 'q.waiting undefined' },
    )
    d.edit('match/queue.go', 'q.waiting', 'q.buckets[rating]')
    d.bash(
      'go build ./... && go test ./match',
      '--- FAIL: TestFairness (0.03s)\n    fair_test.go:19: rating gap 412 > 200\nFAIL\n' +
        'FAIL	example.org/arena/match	0.041s',
      { exit: 1, test: 'failed', fails: ['TestFairness'], error: 'rating gap 412 > 200' },
    )
    d.edit('match/bucket.go', '// Bucket holds', '// Bucket, 200 points wide, holds')
    d.bash('go build ./... && go test ./match', 'ok  	example.org/arena/match	0.038s', {
      test: 'passed',
      passes: ['TestFairness'],
    })
    d.bash(
      'git add match && git commit -m "match: bucket players by rating"',
      'revive: match/bucket.go:6:1: exported method Bucket.Add should have comment\n' +
        'husky - pre-commit hook exited with code 1',
      { exit: 1, error: 'exported method Bucket.Add should have comment' },
    )
    d.edit('match/bucket.go', 'func (b *Bucket) Add', '// Add puts a player into the bucket.\nfunc (b *Bucket) Add')
    d.bash(
      'git add match && git commit -m "match: bucket players by rating"',
      '[buckets b0c4e71] match: bucket players by rating\n 2 files changed, 14 insertions(+), 3 deletions(-)\n' +
        ' create mode 100644 match/bucket.go',
      { commit: { id: 'b0c4e71', subject: 'match: bucket players by rating' } },
    )
    d.taskIs(2, 'completed')
    d.bash(
      'git commit -qam "match: log queue length" && git revert --no-edit HEAD',
      '[buckets c0c0c01] Revert "match: log queue length"\n Date: Sat Nov 14 19:58:10 2026 +0100\n' +
        ' 1 file changed, 1 deletion(-)',
      { commit: { id: 'c0c0c01', subject: 'Revert "match: log queue length"' } },
    ).alsoCommitted('match: log queue length')
    d.taskIs(3, 'in_progress', {
      say:
        "I took the log line out again. For the load test I'll simulate clients in-process instead of using real " +
        'sockets, as sockets would measure the kernel.',
    }).decides(
      "For the load test I'll simulate clients in-process instead of using real sockets, as sockets would measure " +
        'the kernel',
    )
    d.timesOut('go run ./cmd/load -players 10000', 300)
    d.say('The load test did not finish within five minutes on this machine. Can I use the perf box for it?').asks(
      'Can I use the perf box for it?',
      'open',
    )
  },
} satisfies Scenario
