import type { Scenario } from '../build/day.js'

const LIMITER = `package limit

import (
	"sync"
	"time"
)

// Bucket is safe for concurrent use. Callers must not copy it.
type Bucket struct {
	mu     sync.Mutex
	tokens float64
	rate   float64
	last   time.Time
}

func (b *Bucket) Allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens += now.Sub(b.last).Seconds() * b.rate
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
`

const RACE = `=== RUN   TestBucketRefills
--- PASS: TestBucketRefills (0.00s)
=== RUN   TestBucketBurst
    bucket_test.go:44: allowed 17 of 10
--- FAIL: TestBucketBurst (0.01s)
=== RUN   TestBucketParallel
--- PASS: TestBucketParallel (0.12s)
FAIL
FAIL	example.org/gate/limit	0.141s
ok  	example.org/gate/proxy	0.310s
FAIL`

const GREEN = `ok  	example.org/gate/limit	0.139s
ok  	example.org/gate/proxy	(cached)`

export default {
  name: 'go-rate-limiter',
  about:
    'a Go limiter on a branch of its own: a commit refused by a hook, then made; a message sent while the agent worked',
  cwd: '/home/tom/gate',
  branch: 'main',
  start: '2026-10-07T09:00:00Z',
  day: (d) => {
    d.user(
      'The token bucket in limit/ lets bursts through that are larger than its size. Work on a branch called ' +
        "fix/burst. Don't push anything, I want to review it locally first.",
    )
      .must('Work on a branch called fix/burst')
      .never("Don't push anything")
    d.instructions('CLAUDE.md', 'Always run gofmt before committing. Never edit files under vendor/.')
      .decoy('constraint', 'Always run gofmt before committing', 'the project file, added by the client')
      .decoy('constraint', 'Never edit files under vendor/', 'the project file, added by the client')
    d.bash('git checkout -b fix/burst', "Switched to a new branch 'fix/burst'", { branch: 'fix/burst' })
    d.read('limit/bucket.go', LIMITER).decoy('constraint', 'Callers must not copy it', 'a comment')
    d.bash('go test ./... -run Bucket -v', RACE, {
      exit: 1,
      test: 'failed',
      fails: ['TestBucketBurst'],
      passes: ['TestBucketRefills', 'TestBucketParallel'],
      error: 'bucket_test.go:44: allowed 17 of 10',
    })
    d.edit('limit/bucket.go', '	b.last = now\n', '	b.tokens = min(b.tokens, b.size)\n	b.last = now\n')
    d.bash("sed -i 's/\\trate   float64/\\trate   float64\\n\\tsize   float64/' limit/bucket.go", '', {
      changes: ['limit/bucket.go'],
    })
    d.queued('also: the limiter has to stay allocation free, there is a benchmark for it').must(
      'the limiter has to stay allocation free',
    )
    d.bash(
      'go test ./limit -bench Allow -benchmem -run xxx',
      'BenchmarkAllow-8   	52110348	        22.71 ns/op	       0 B/op	       0 allocs/op\nPASS\n' +
        'ok  	example.org/gate/limit	1.402s',
      { test: 'passed' },
    )
    d.bash('go test ./... -run Bucket', GREEN, { test: 'passed', passes: ['TestBucketBurst'] })
    d.bash(
      'git commit -am "Cap the bucket at its size"',
      'golangci-lint run ./...\nlimit/bucket.go:9:2: field size is unused after init (unused)\n' +
        'pre-commit hook failed (exit 1)',
      {
        exit: 1,
        error: 'pre-commit hook failed',
      },
    ).decoy('commit', 'Cap the bucket at its size', 'refused by a hook; made under another subject')
    d.edit('limit/bucket.go', '	size   float64', '	size   float64 // most tokens it holds')
    d.bash(
      'golangci-lint run ./... && git commit -am "limit: cap the bucket at its size"',
      '[fix/burst 81c0e4a] limit: cap the bucket at its size\n 1 file changed, 3 insertions(+)',
      {
        commit: { id: '81c0e4a', subject: 'limit: cap the bucket at its size' },
      },
    )
    d.say('Done on fix/burst, one commit (81c0e4a). The benchmark still shows 0 allocs/op. Nothing was pushed.')
    d.user('Thanks. Is the same bug in the sliding window limiter?').wonders(
      'Is the same bug in the sliding window limiter?',
      'answered',
    )
    d.bash('grep -n "tokens +=" -r limit/', 'limit/bucket.go:19:	b.tokens += now.Sub(b.last).Seconds() * b.rate')
    d.say('No. The sliding window counts events in a ring and has no refill, so it cannot overshoot.')
    d.bang('git status -sb', '## fix/burst')
    d.say('The tree is clean on fix/burst.')
  },
} satisfies Scenario
