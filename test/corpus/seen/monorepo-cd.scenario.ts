import type { Scenario } from '../build/day.js'

const RED = `FAIL src/session/session.test.ts
  session store
    ✓ creates a session (4 ms)
    ✕ expires after the ttl (12 ms)

  ● session store › expires after the ttl

    expect(received).toBe(expected) // Object.is equality

    Expected: null
    Received: {"id": "s1"}

      at Object.<anonymous> (src/session/session.test.ts:22:31)

PASS src/health.test.ts

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 4 passed, 5 total
Time:        1.204 s`

const GREEN = `PASS src/session/session.test.ts
PASS src/health.test.ts

Test Suites: 2 passed, 2 total
Tests:       5 passed, 5 total
Time:        1.077 s`

export default {
  name: 'monorepo-cd',
  about: 'a monorepo: the shell changes folders and stays there, so that later paths start from another place',
  cwd: '/home/mia/platform',
  branch: 'main',
  start: '2026-10-15T14:00:00Z',
  day: (d) => {
    d.user(
      'In packages/api sessions never expire. Fix it and rename store.ts to session-store.ts while you are there. ' +
        'Use pnpm, not npm. The web package is frozen this week, so nothing in packages/web may change.',
    )
      .must('Use pnpm, not npm')
      .never('nothing in packages/web may change')
    d.bash('cd packages/api && pnpm test', RED, {
      exit: 1,
      test: 'failed',
      fails: ['session store › expires after the ttl'],
    })
    d.together(() => {
      d.glob('packages/api/src/session/*.ts', [
        'packages/api/src/session/session.test.ts',
        'packages/api/src/session/store.ts',
      ])
      d.grep('session/store', [
        'packages/api/src/index.ts:4:import { get } from "./session/store.js" // keep this import first',
      ])
    }).decoy('constraint', 'keep this import first', 'found by a search')
    d.bash('cd packages/api && ls src/session', 'session.test.ts\nstore.ts', { cd: 'packages/api' })
    d.read(
      'packages/api/src/session/store.ts',
      'export const ttl = 60_000\n// WARNING: do not import this from packages/web\n' +
        'export function get(id: string) { return map.get(id) ?? null }\n',
    ).decoy('constraint', 'do not import this from packages/web', 'a comment')
    d.edit(
      'packages/api/src/session/store.ts',
      'return map.get(id) ?? null',
      'const one = map.get(id)\n  return one && one.at + ttl > now() ? one : null',
    )
    d.bash('git mv src/session/store.ts src/session/session-store.ts', '', {
      changes: ['src/session/store.ts', 'src/session/session-store.ts'],
    })
    d.bash("sed -i 's#./store.js#./session-store.js#' src/session/session.test.ts src/index.ts", '', {
      changes: ['src/session/session.test.ts', 'src/index.ts'],
    })
    d.bash('pnpm test', GREEN, { test: 'passed', passes: ['session store › expires after the ttl'] })
    d.bash(
      'cd ../.. && pnpm -r typecheck',
      'Scope: 3 of 4 workspace projects\npackages/shared typecheck: Done\n' +
        'packages/api typecheck: src/index.ts(4,23): error TS2305: Module has no exported member "get".\n' +
        'ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL',
      {
        exit: 2,
        error: 'error TS2305',
      },
    )
    d.bash(
      'git diff --stat',
      ' packages/api/src/index.ts                  | 2 +-\n packages/api/src/session/session.test.ts   | 2 +-\n' +
        ' 2 files changed',
    )
    d.edit(
      'packages/api/src/index.ts',
      "import { get } from './session/session-store.js'",
      "import { get as getSession } from './session/session-store.js'",
    )
    d.bash(
      'cd ../.. && pnpm -r typecheck',
      'Scope: 3 of 4 workspace projects\npackages/shared typecheck: Done\npackages/api typecheck: Done',
      { cd: '../..' },
    )
    d.bash('git commit -qam "api: let sessions expire" && git log -1 --format=%h', 'ab12cd3', {
      commit: { subject: 'api: let sessions expire' },
    })
    d.say('Sessions expire now and the file is renamed. Typecheck and the five tests pass; packages/web is untouched.')
    d.user(
      'perfect. Squash-merge is how we do it here, so please leave the branch as it is and do not rebase. Next: ' +
        'document the ttl in packages/api/README.md',
    )
      .must('leave the branch as it is')
      .never('do not rebase')
    d.missing('packages/api/readme.md')
    d.bash(
      "printf '\\n## Sessions\\n\\nSessions expire after ttl milliseconds (60 000).\\n' >> packages/api/README.md",
      '',
      {
        changes: ['packages/api/README.md'],
      },
    )
    d.say('Documented. Not committed yet.')
  },
} satisfies Scenario
