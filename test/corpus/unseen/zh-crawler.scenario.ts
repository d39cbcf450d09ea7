import type { Scenario } from '../build/day.js'

export default {
  name: 'zh-crawler',
  about: '用 Go 写的爬虫，中文提示：限制、并发错误、未回答的问题',
  language: 'zh',
  cwd: '/home/wei/crawler',
  branch: 'main',
  start: '2026-11-03T02:00:00Z',
  day: (d) => {
    d.user(
      '爬虫有时会重复抓取同一个页面，请修复。不要修改数据库表结构。所有新代码都必须有测试。请在分支 fix-dup 上工作。',
    )
      .never('不要修改数据库表结构')
      .must('所有新代码都必须有测试')
      .must('请在分支 fix-dup 上工作')
    d.bash('git checkout -b fix-dup', "Switched to a new branch 'fix-dup'", { branch: 'fix-dup' })
    d.read(
      'frontier/queue.go',
      'package frontier\n\n// 注意：禁止在锁外访问 seen\ntype Queue struct {\n\tseen map[string]bool\n}\n',
    ).decoy('constraint', '禁止在锁外访问 seen', '源码注释')
    d.bash(
      'go test -race ./frontier',
      '==================\nWARNING: DATA RACE\nWrite at 0x00c000114060 by goroutine 9:\n' +
        '  example.org/crawler/frontier.(*Queue).Push()\n      /home/wei/crawler/frontier/queue.go:21 +0x104\n' +
        '==================\n--- FAIL: TestPushTwice (0.02s)\n' +
        '    testing.go:1465: race detected during execution of test\nFAIL\n' +
        'FAIL\texample.org/crawler/frontier\t0.051s\nFAIL',
      { exit: 1, test: 'failed', fails: ['TestPushTwice'], error: 'WARNING: DATA RACE' },
    )
    d.edit('frontier/queue.go', '\tseen map[string]bool', '\tmu   sync.Mutex\n\tseen map[string]bool')
    d.write(
      'frontier/queue_dup_test.go',
      'package frontier\n\nimport "testing"\n\nfunc TestNoDuplicate(t *testing.T) {}\n',
    )
    d.bash('go test -race ./frontier', 'ok  \texample.org/crawler/frontier\t1.044s', {
      test: 'passed',
      passes: ['TestPushTwice'],
    })
    d.queued('顺便：日志不要输出完整的 URL，只输出域名').never('日志不要输出完整的 URL')
    d.bash("sed -i 's/log.Println(u)/log.Println(u.Host)/' frontier/queue.go", '', { changes: ['frontier/queue.go'] })
    d.bash(
      'git add -A && git commit -m "修复重复抓取"',
      '[fix-dup 3a3b3c3] 修复重复抓取\n 2 files changed, 9 insertions(+), 1 deletion(-)\n' +
        ' create mode 100644 frontier/queue_dup_test.go',
      { commit: { id: '3a3b3c3', subject: '修复重复抓取' } },
    )
    d.say('已修复：Push 现在加锁，日志只输出域名。是否需要清理数据库里已有的重复记录？').asks(
      '是否需要清理数据库里已有的重复记录？',
      'open',
    )
  },
} satisfies Scenario
