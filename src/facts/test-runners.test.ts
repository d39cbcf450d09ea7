import { expect, test } from 'vitest'
import { runsTests } from './check-command.js'
import { readTestRun } from './test-runners.js'

const RUNS: [string, string, string, string[]][] = [
  [
    'vitest',
    'npx vitest run',
    ` ❯ src/a.test.ts (4 tests | 1 failed) 52ms
 FAIL  src/a.test.ts > Queue > stops after the limit
AssertionError: expected 1 to be 2
 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 9 passed (10)`,
    ['src/a.test.ts > Queue > stops after the limit'],
  ],
  [
    'jest',
    'npm test',
    `FAIL src/sum.test.js
  ✓ adds (2 ms)
  ✕ subtracts (1 ms)

  ● sum › subtracts

    expect(received).toBe(expected)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total`,
    ['sum › subtracts'],
  ],
  [
    'mocha',
    'npx mocha',
    `  cart
    ✔ sums prices
    1) sums cents exactly

  1 passing (9ms)
  1 failing

  1) cart
       sums cents exactly:
     AssertionError: 3030 == 30.3`,
    ['sums cents exactly'],
  ],
  [
    'pytest',
    'python -m pytest -q',
    `FAILED tests/test_report.py::test_total[EMEA] - KeyError: 'EMEA'
ERROR tests/test_load.py - ImportError: no module
========================= 1 failed, 12 passed, 1 error in 0.61s =========================`,
    ['tests/test_report.py::test_total[EMEA]', 'tests/test_load.py'],
  ],
  [
    'unittest',
    'python -m unittest',
    `FAIL: test_upper (test_string.StringTest)
----------------------------------------------------------------------
AssertionError: 'foo' != 'FOO'
Ran 3 tests in 0.002s

FAILED (failures=1)`,
    ['test_upper (test_string.StringTest)'],
  ],
  [
    'go',
    'go test ./...',
    `--- FAIL: TestBucketBurst (0.01s)
    --- FAIL: TestBucketBurst/large (0.00s)
FAIL
FAIL	example.org/gate/limit	0.141s
ok  	example.org/gate/proxy	0.310s`,
    ['TestBucketBurst', 'TestBucketBurst/large'],
  ],
  [
    'cargo',
    'cargo test',
    `test lexer::tests::escapes ... FAILED
test lexer::tests::newlines ... ok
test result: FAILED. 1 passed; 1 failed; 0 ignored`,
    ['lexer::tests::escapes'],
  ],
  [
    'ctest',
    'ctest --test-dir build',
    `67% tests passed, 1 tests failed out of 3

The following tests FAILED:
	  2 - codec_roundtrip (Failed)
Errors while running CTest`,
    ['codec_roundtrip'],
  ],
  [
    'phpunit',
    'vendor/bin/phpunit',
    `There was 1 failure:

1) App\\Tests\\InvoiceTest::testRounding
Failed asserting that 1.0 matches expected 1.01.

FAILURES!
Tests: 8, Assertions: 19, Failures: 1.`,
    ['App\\Tests\\InvoiceTest::testRounding'],
  ],
  [
    'rspec',
    'bundle exec rspec',
    `8 examples, 1 failure

Failed examples:

rspec ./spec/order_spec.rb:12 # Order locks the stock`,
    ['./spec/order_spec.rb:12 # Order locks the stock'],
  ],
  [
    'gradle',
    './gradlew test',
    `> Task :test FAILED

TileCacheTest > evicts the oldest FAILED
    org.junit.ComparisonFailure at TileCacheTest.kt:41

4 tests completed, 1 failed

BUILD FAILED in 6s`,
    ['TileCacheTest > evicts the oldest'],
  ],
  [
    'maven',
    'mvn -q test',
    `[ERROR] Tests run: 6, Failures: 1, Errors: 0, Skipped: 0
[ERROR]   OverlapTest.touching:22 expected: <false> but was: <true>
[INFO] BUILD FAILURE`,
    ['OverlapTest.touching'],
  ],
  [
    'dotnet',
    'dotnet test',
    `  Failed Shop.Tests.CartTests.Sums_cents [3 ms]
  Error Message:
   Assert.Equal() Failure
Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12`,
    ['Shop.Tests.CartTests.Sums_cents'],
  ],
  [
    'node',
    'node --test',
    `not ok 1 - parses dates
# tests 2
# pass 1
# fail 1`,
    ['parses dates'],
  ],
]

test.each(RUNS)('a failing run of %s names the tests that failed', (_, command, output, failing) => {
  expect(runsTests(command)).toBe(true)
  expect(readTestRun(output, command)).toMatchObject({ passed: false, failing })
  // The same output through a script of the project, whose command does not name the runner.
  expect(readTestRun(output, 'make test')).toMatchObject({ passed: false, failing: expect.arrayContaining(failing) })
})

test.each([
  ['vitest', ' Test Files  2 passed (2)\n      Tests  10 passed (10)\n'],
  ['jest', 'Test Suites: 3 passed, 3 total\nTests:       12 passed, 12 total\n'],
  ['mocha', '  2 passing (8ms)\n'],
  ['pytest', '============ 14 passed, 2 warnings in 0.61s ============'],
  ['pytest -q', '..............\n14 passed in 0.61s'],
  ['python -m unittest', 'Ran 3 tests in 0.002s\n\nOK'],
  ['go test ./...', 'ok  \texample.org/gate/limit\t0.139s\n?   \texample.org/gate\t[no test files]'],
  ['cargo test', 'test result: ok. 5 passed; 0 failed; 0 ignored'],
  ['ctest', '100% tests passed, 0 tests failed out of 3'],
  ['phpunit', 'OK (8 tests, 19 assertions)'],
  ['rspec', '8 examples, 0 failures'],
  ['./gradlew test', 'BUILD SUCCESSFUL in 6s'],
  ['mvn test', '[INFO] Tests run: 6, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS'],
  ['dotnet test', 'Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12'],
])('a passing run of %s is recognised', (command, output) => {
  expect(readTestRun(output, command)).toMatchObject({ passed: true, failing: [] })
  expect(readTestRun(output, 'make test')).toMatchObject({ passed: true, failing: [] })
})

test.each([
  'ls -la',
  'npm install',
  'git commit -m "test the queue"',
  'cat test/a.test.ts',
  'grep -rn jest.config .',
  'python report.py',
])('the command %s runs no tests', (command) => {
  expect(runsTests(command)).toBe(false)
})

test('output of other programs is not taken for a test run', () => {
  expect(readTestRun('total 16\n-rw-r--r-- 1 root root 512 README', 'make test')).toBeNull()
})
