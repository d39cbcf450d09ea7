import type { Scenario } from '../build/day.js'

const AUTH = `export async function login(req: Request): Promise<Response> {
  const { user, password } = await req.json()
  const found = await users.find(user)
  if (!found || !(await verify(found.hash, password))) return new Response(null, { status: 401 })
  return issue(found)
}
`

const SUMMARY = `1. Primary Request and Intent:
   The user wants refresh tokens for the login. Please implement rotation and do not store tokens in clear text.
2. Files: src/auth/login.ts, src/auth/tokens.ts
3. All user messages:
   - "Add refresh tokens to the login."
4. Pending Tasks:
   - Revoke a family of tokens when one is used twice
   - Ask whether the mobile app needs longer tokens?
5. Current Work: npm run test:auth fails in tokens.test.ts
6. git commit -m "wip refresh tokens" was considered but not done.`

export default {
  name: 'compacted-auth',
  about: 'a long piece of work that is compacted by itself and resumed the next day: the summary asks for nothing',
  cwd: '/home/noor/idp',
  branch: 'refresh-tokens',
  start: '2026-10-16T09:30:00Z',
  day: (d) => {
    d.user(
      'Add refresh tokens to the login. Tokens must be stored hashed. We cannot use Redis here. Access tokens have ' +
        'to stay valid for exactly 15 minutes.',
    )
      .must('Tokens must be stored hashed')
      .never('We cannot use Redis here')
      .must('Access tokens have to stay valid for exactly 15 minutes')
    d.together(() => {
      d.task('Issue a refresh token at login')
      d.task('Rotate on every use')
      d.task('Revoke a family of tokens when one is used twice')
      d.task('Write the migration for refresh_tokens')
    })
    d.read('src/auth/login.ts', AUTH)
    d.write(
      'src/auth/tokens.ts',
      "import { createHash, randomBytes } from 'node:crypto'\n\n" +
        "export const hash = (token: string) => createHash('sha256').update(token).digest('hex')\n",
    )
    d.edit('src/auth/login.ts', 'return issue(found)', 'return issue(found, await refresh(found))')
    d.taskIs(1, 'completed', {
      say: "I'll hash with SHA-256 instead of bcrypt since the tokens are random and need no slow hash.",
    }).decides("I'll hash with SHA-256 instead of bcrypt since the tokens are random and need no slow hash")
    d.taskIs(2, 'in_progress')
    d.bash(
      'npm run test:auth',
      ' ❯ src/auth/tokens.test.ts (3 tests | 1 failed)\n   × rotation > refuses a used token\n\n' +
        ' FAIL  src/auth/tokens.test.ts > rotation > refuses a used token\n' +
        'Error: expected 401 "Unauthorized", got 200 "OK"\n\n Tests  1 failed | 2 passed (3)',
      {
        exit: 1,
        test: 'failed',
        fails: ['src/auth/tokens.test.ts > rotation > refuses a used token'],
        error: 'expected 401 "Unauthorized", got 200 "OK"',
      },
    )
    d.compact('auto', SUMMARY)
      .decoy(
        'request',
        'Please implement rotation and do not store tokens in clear text.',
        'the summary of a compaction',
      )
      .decoy('constraint', 'do not store tokens in clear text', 'the summary of a compaction')
      .decoy('question', 'Ask whether the mobile app needs longer tokens?', 'the summary of a compaction')
      .decoy('commit', 'wip refresh tokens', 'the summary of a compaction')
    d.edit('src/auth/tokens.ts', "digest('hex')", "digest('hex')\n\nexport const used = new Set<string>()")
    d.bash('npm run test:auth', ' ✓ src/auth/tokens.test.ts (3 tests) 31ms\n\n Tests  3 passed (3)', {
      test: 'passed',
      passes: ['src/auth/tokens.test.ts > rotation > refuses a used token'],
    })
    d.taskIs(2, 'completed')
    d.bash(
      'git add -A && git commit -m "Rotate refresh tokens"',
      '[refresh-tokens 77aa88b] Rotate refresh tokens\n 2 files changed, 19 insertions(+), 1 deletion(-)\n' +
        ' create mode 100644 src/auth/tokens.ts',
      { commit: { id: '77aa88b', subject: 'Rotate refresh tokens' } },
    )
    d.say('Rotation works. Next is revoking a whole family.')
    d.resume('refresh-tokens')
    d.user('go on with the revocation. By the way, how do we want to clean up expired rows?').wonders(
      'how do we want to clean up expired rows?',
      'open',
    )
    d.taskIs(3, 'in_progress')
    d.write(
      'migrations/007_refresh_tokens.sql',
      'create table refresh_tokens (hash text primary key, family uuid not null, used_at timestamptz);\n',
    )
    d.taskIs(4, 'completed')
    d.bash(
      'npm run test:auth -- --run family',
      ' FAIL  src/auth/family.test.ts [ src/auth/family.test.ts ]\n' +
        "Error: Cannot find module './family.js' imported from src/auth/family.test.ts",
      { exit: 1, test: 'failed', fails: ['src/auth/family.test.ts'], error: "Cannot find module './family.js'" },
    )
  },
} satisfies Scenario
