import type { Scenario } from '../build/day.js'

const LEVELS = ['INFO', 'DEBUG', 'WARN', 'INFO', 'ERROR']
const TEXTS = [
  'user said: never call me again',
  'please delete all rows where tenant is null',
  'retrying, you must not see this more than 3 times',
  'TODO check why the cache is cold?',
  'commit 8d1f0aa applied to replica',
  'worker finished in 412ms',
  'tests/unit/test_queue.py::test_ack FAILED',
  '$ git commit -m "hotfix from the runbook"',
  'ValueError: unsupported locale xx_XX',
  'Do not restart the broker while draining',
]

const log = (from: number, count: number): string =>
  Array.from({ length: count }, (_, i) => {
    const n = from + i
    return (
      `2026-10-2${n % 10}T0${n % 10}:${String(n % 60).padStart(2, '0')}` +
      `:11.${String((n * 37) % 1000).padStart(3, '0')}Z ${LEVELS[n % 5]} worker-${n % 7} ` +
      `${TEXTS[(n * 3) % TEXTS.length]} id=${(n * 7919) % 100_000}`
    )
  }).join('\n')

const source = (n: number): string =>
  `"""Handler ${n}. Never import this from the API layer."""\n\nfrom broker import Message\n\n\n` +
  `def handle_${n}(message: Message) -> int:\n    # must not block\n    total = 0\n    for part in message.parts:\n` +
  `        total += len(part) * ${n}\n    return total\n`

export default {
  name: 'long-log-hunt',
  about: 'a long search through logs and handlers: hundreds of steps, and only few facts in them',
  cwd: '/srv/worker',
  branch: 'main',
  start: '2026-10-26T07:00:00Z',
  day: (d) => {
    d.user(
      'Messages get lost about once an hour. Find out where. Read only for now: do not change any code until I say ' +
        'so. Never restart the broker, it is shared.',
    )
      .never('do not change any code until I say so')
      .never('Never restart the broker')
    for (const text of [
      'never call me again',
      'you must not see this more than 3 times',
      'Do not restart the broker while draining',
    ])
      d.decoy('constraint', text, 'a log line')
    d.decoy('commit', 'hotfix from the runbook', 'a log line')
      .decoy('test', 'tests/unit/test_queue.py::test_ack', 'a log line')
      .decoy('constraint', 'Never import this from the API layer', 'a docstring')
      .decoy('request', 'please delete all rows where tenant is null', 'a log line')
    for (let n = 0; n < 150; n++) {
      const aside = n % 20 === 0 ? { say: `Handlers ${n} to ${n + 19} next.` } : {}
      d.read(`handlers/h${String(n).padStart(3, '0')}.py`, source(n), aside)
      if (n % 4 === 0) d.bash(`sed -n '${n * 50 + 1},${n * 50 + 40}p' logs/worker.log`, log(n * 50, 24))
    }
    for (let n = 0; n < 60; n++)
      d.bash(`grep -c "id=${n * 131}" logs/worker.log`, String(n % 3), n % 3 === 0 ? { exit: 1 } : {})
    d.queued('found anything yet? no hurry').wonders('found anything yet?', 'answered')
    d.together(() => {
      d.read('broker/client.py', 'class Client:\n    def ack(self, tag):\n        self.channel.basic_ack(tag)\n')
      d.read('broker/pool.py', 'class Pool:\n    def recycle(self):\n        self.channel.close()\n')
    })
    d.say(
      'Found it: Pool.recycle closes the channel once an hour while a message may still be unacknowledged, and the ' +
        'client then drops the tag. There are two ways: wait for the acks before closing, or requeue on close. Which ' +
        'one do you prefer?',
    ).asks('Which one do you prefer?', 'answered')
    d.user('Wait for the acks. You may change code now, but only in broker/. Add a test in tests/test_pool.py.')
      .must('only in broker/')
      .settles('Wait for the acks')
      .withdrawn('constraint', 'do not change any code until I say so', 'lifted by the user later')
    d.todos([
      ['Wait for open acks in Pool.recycle', 'in_progress'],
      ['Test with a slow consumer', 'pending'],
      ['Measure the pause at recycling', 'pending'],
    ])
    d.edit(
      'broker/pool.py',
      '        self.channel.close()',
      '        self.drained.wait(timeout=30)\n        self.channel.close()',
    )
    d.write(
      'tests/test_pool.py',
      'def test_recycle_waits(pool):\n    pool.recycle()\n    assert pool.drained.is_set()\n',
    )
    for (let n = 1; n <= 40; n++)
      d.bash(`python tools/replay.py --seed ${n}`, `replaying 400 messages, seed ${n}\n${log(n * 11, 12)}\nlost: 0`)
    d.bash(
      'pytest -q tests/test_pool.py',
      '.                                                                        [100%]\n1 passed in 0.21s',
      { test: 'passed' },
    )
    d.todos([
      ['Wait for open acks in Pool.recycle', 'completed'],
      ['Test with a slow consumer', 'completed'],
      ['Measure the pause at recycling', 'pending'],
    ])
    d.bash(
      'git add broker tests && git commit -m "Wait for open acks before a channel is recycled"',
      '[main f00dbab] Wait for open acks before a channel is recycled\n 2 files changed, 4 insertions(+)\n' +
        ' create mode 100644 tests/test_pool.py',
      { commit: { id: 'f00dbab', subject: 'Wait for open acks before a channel is recycled' } },
    )
    d.say('No message was lost in 40 replays. What is left is measuring the pause at recycling.')
  },
} satisfies Scenario
