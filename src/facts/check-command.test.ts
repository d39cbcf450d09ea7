import { expect, test } from 'vitest'
import { checksIn } from './check-command.js'

const kinds = (command: string): string[] => checksIn(command).map(({ kind }) => kind)

test.each([
  ['mise run test:ci', 'test'],
  ['mise lint', 'lint'],
  ['just test', 'test'],
  ['task build', 'build'],
  ['make -C api -j4 test', 'test'],
  ['make', 'build'],
  ['turbo run build --filter=web', 'build'],
  ['npx turbo lint test', 'test'],
  ['nx test shop', 'test'],
  ['nx run shop:lint', 'lint'],
  ['nx run-many -t test,lint', 'test'],
  ['nx affected --target=build', 'build'],
  ['pnpm --filter web test', 'test'],
  ['pnpm -r run typecheck', 'lint'],
  ['pnpm --filter web exec tsc --noEmit', 'lint'],
  ['npm -w pkg run test:unit -- --silent', 'test'],
  ['yarn workspace web lint', 'lint'],
  ['bun run build', 'build'],
  ['uv run pytest -q', 'test'],
  ['poetry run python -m mypy src', 'lint'],
  ['docker compose exec web pytest', 'test'],
  ['nix develop --command go test ./...', 'test'],
  ['bash -c "cd api && cargo +nightly clippy"', 'lint'],
  ['./scripts/run_tests.sh fast', 'test'],
  ['cd api && CI=1 npx vitest run a.test.ts', 'test'],
])('%s is a check of the kind %s', (command, kind) => {
  expect(kinds(command)).toContain(kind)
})

test.each([
  'gh pr comment 4 --body "please run make test before the merge"',
  'git commit -m "fix: make check pass"',
  'echo "npm test"',
  'grep -rn "go test" docs',
  'cat test/a.test.ts',
  'npm install',
  'npm ci',
  'go install example.org/lint@v1 --help',
  'golangci-lint version',
  '/tmp/demo-test enable',
  'make install',
  'just deploy',
  'rm -rf build',
])('%s is no check', (command) => {
  expect(kinds(command)).toEqual([])
})

test('the same check has the same key whatever stands around it', () => {
  const keys = ['mise run lint', 'cd api && mise run lint 2>&1 | tail -5', 'CI=1 mise run lint; echo $?'].map(
    (command) => checksIn(command)[0]?.key,
  )
  expect(new Set(keys).size).toBe(1)
})
