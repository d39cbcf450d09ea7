import type { Scenario } from '../build/day.js'

const QUEUE = `import { setTimeout as sleep } from 'node:timers/promises'

// IMPORTANT: never call process.exit() in here, the supervisor does that.
// TODO: always use the injected clock instead of Date.now()
export interface Job { id: string; run(): Promise<void> }

export class RetryQueue {
  private readonly waiting: Job[] = []
  constructor(private readonly limit = 5) {}

  async push(job: Job): Promise<void> {
    for (let attempt = 0; attempt < this.limit; attempt++) {
      try {
        return await job.run()
      } catch (error) {
        await sleep(100 * 2 ** attempt)
      }
    }
    throw new Error('gave up on ' + job.id)
  }
}
`

const FAILING = `
> mailer@2.3.0 test
> vitest run

 RUN  v3.2.4 /home/ana/mailer

 ✓ src/address.test.ts (6 tests) 12ms
 ❯ src/retry-queue.test.ts (4 tests | 1 failed) 523ms
   ✓ RetryQueue > runs a job once when it works 3ms
   × RetryQueue > stops after the limit 509ms
     → expected [Function] to throw error including 'gave up' but got 'socket hang up'

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/retry-queue.test.ts > RetryQueue > stops after the limit
AssertionError: expected [Function] to throw error including 'gave up' but got 'socket hang up'
 ❯ src/retry-queue.test.ts:31:46

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 9 passed (10)
   Duration  1.02s`

const PASSING = `
> mailer@2.3.0 test
> vitest run

 RUN  v3.2.4 /home/ana/mailer

 ✓ src/address.test.ts (6 tests) 11ms
 ✓ src/retry-queue.test.ts (4 tests) 41ms

 Test Files  2 passed (2)
      Tests  10 passed (10)
   Duration  0.94s`

export default {
  name: 'ts-retry-queue',
  about: 'a retry queue in TypeScript: a test fails, is fixed, and the work is committed',
  cwd: '/home/ana/mailer',
  branch: 'main',
  start: '2026-10-05T08:12:00Z',
  day: (d) => {
    d.user(
      'The retry queue hides the real error when it gives up. Please fix that: the last error should be attached ' +
        'as `cause`. Do not change the public constructor signature, other teams call it. And no new dependencies ' +
        'please.',
    )
      .never('Do not change the public constructor signature')
      .never('no new dependencies')
      .mayBind('the last error should be attached as `cause`')
    d.read('src/retry-queue.ts', QUEUE, {
      say: "I'll look at the queue first.",
      think: 'The catch swallows the error. Why does it sleep after the last attempt? Let me check.',
    })
      .decoy('constraint', 'never call process.exit() in here, the supervisor does that', 'a comment in a source file')
      .decoy('constraint', 'always use the injected clock instead of Date.now()', 'a comment in a source file')
      .decoy('todo', 'always use the injected clock instead of Date.now()', 'a comment in a source file')
      .decoy('question', 'Why does it sleep after the last attempt?', 'the agent thinking aloud')
    d.read(
      'src/retry-queue.test.ts',
      "import { expect, test } from 'vitest'\nimport { RetryQueue } from './retry-queue.js'\n\n" +
        "test('stops after the limit', async () => {})\n",
    )
    d.bash('npm test', FAILING, {
      exit: 1,
      description: 'Run the tests',
      test: 'failed',
      fails: ['src/retry-queue.test.ts > RetryQueue > stops after the limit'],
      error: "expected [Function] to throw error including 'gave up' but got 'socket hang up'",
    })
    d.edit(
      'src/retry-queue.ts',
      "throw new Error('gave up on ' + job.id)",
      "throw new Error('gave up on ' + job.id, { cause: last })",
      {
        say:
          'I keep the last error in a local variable rather than in a field, because two pushes may run at the ' +
          'same time.',
      },
    ).decides(
      'I keep the last error in a local variable rather than in a field, because two pushes may run at the same time',
    )
    d.editFails(
      'src/retry-queue.ts',
      '      } catch (error) {\n          await',
      '      } catch (error) {\n        last = error',
    )
    d.edit('src/retry-queue.ts', '      } catch (error) {\n', '      } catch (error) {\n        last = error\n')
    d.bash('npx tsc --noEmit', "src/retry-queue.ts(16,9): error TS2304: Cannot find name 'last'.", {
      exit: 2,
      error: "error TS2304: Cannot find name 'last'",
    })
    d.edit('src/retry-queue.ts', '    for (let attempt', '    let last: unknown\n    for (let attempt')
    d.bash('npx tsc --noEmit', '', {})
    d.bash('npm test', PASSING, {
      test: 'passed',
      passes: ['src/retry-queue.test.ts > RetryQueue > stops after the limit'],
    })
    d.say(
      'Fixed: the last error is now the `cause` of the one that is thrown. All ten tests pass. Shall I commit this?',
    ).asks('Shall I commit this?', 'answered')
    d.user('Yes. Use conventional commits from now on, and always sign off the commits (-s).')
      .must('Use conventional commits from now on')
      .must('always sign off the commits (-s)')
    d.bash(
      'git add src/retry-queue.ts && git commit -s -m "fix(queue): attach the last error as cause"',
      '[main 3f9d2c1] fix(queue): attach the last error as cause\n 1 file changed, 3 insertions(+), 1 deletion(-)',
      {
        commit: { id: '3f9d2c1', subject: 'fix(queue): attach the last error as cause' },
      },
    )
    d.bash(
      'git log --oneline -3',
      '3f9d2c1 fix(queue): attach the last error as cause\n4be12c7 Bump version\n90aa1fe Fix typo in readme',
    )
    d.say('Committed as 3f9d2c1. Nothing else was touched.')
    d.leave()
  },
} satisfies Scenario
