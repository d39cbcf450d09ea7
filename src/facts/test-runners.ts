/** What one run of tests tells: null where the output does not say. */
export interface TestRun {
  passed: boolean
  failing: string[]
  /** Named as passed in the output. */
  passing: string[]
}

/** Commands that run tests, as people write them. */
const RUNS_TESTS =
  /(?:^|[\s;&|(])(?:(?:npx|bunx|pnpm(?: exec| dlx)?|yarn|uv run|poetry run|pipenv run|bundle exec|python3? -m|\.\/vendor\/bin\/|vendor\/bin\/|\.?\/?node_modules\/\.bin\/|\.\/)\s*)?(?:vitest|jest|mocha|ava|jasmine|karma|cypress run|playwright test|pytest|py\.test|unittest|nosetests|tox|nox|go test|gotestsum|cargo (?:\+\S+ )?(?:test|nextest)|ctest|phpunit|pest|rspec|rake (?:test|spec)|rails test|(?:\.\/)?gradlew?\b[^;&|]*\b(?:test|check)\w*|mvnw?\b[^;&|]*\b(?:test|verify)|dotnet (?:test|vstest)|swift test|mix test|sbt\b[^;&|]*\btest|deno test|bun (?:run )?test|node --test|npm (?:run[ -])?t(?:est)?\b|npm run test|pnpm (?:run )?test|yarn (?:run )?test|make (?:\S+ )*(?:test|check)s?\b|composer (?:run )?test|bazel test|meson test|zig build test|flutter test|dart test|busted|bats)(?=[\s;&|):]|$)/

export function runsTests(command: string): boolean {
  return RUNS_TESTS.test(command)
}

interface Runner {
  /** How a line of its summary looks, and whether it tells of failures. */
  summary: RegExp
  failed: RegExp
  /** Names of tests that failed, each in the first group. */
  failing: RegExp[]
  passing: RegExp[]
}

const RUNNERS: Runner[] = [
  // vitest
  {
    summary: /^\s*(?:Test Files|Tests)\s+.*\b(?:passed|failed)\b|^\s*FAIL\s+\S+\.(?:test|spec)\.\w+ (?:\[|>)/m,
    failed: /^\s*(?:Test Files|Tests)\s+.*\b\d+ failed|^\s*FAIL\s/m,
    failing: [
      /^\s*FAIL\s+(\S+\.(?:test|spec)\.\w+) \[/gm,
      /^\s*FAIL\s+(?:\|[^|]+\|\s*)?(\S.*?\s>\s.*?)(?:\s+\d+ms)?\s*$/gm,
      /^\s*[×✗]\s+(\S+\.(?:test|spec)\.\w+\s>\s.*?)(?:\s+\d+ms)?\s*$/gm,
    ],
    passing: [/^\s*✓\s+(\S+\.(?:test|spec)\.\w+\s>\s.*?)(?:\s+\d+ms)?\s*$/gm],
  },
  // jest
  {
    summary: /^(?:Test Suites|Tests):\s+.*\btotal\b/m,
    failed: /^(?:Test Suites|Tests):\s+.*\b\d+ failed/m,
    failing: [/^\s*●\s+((?!Console|Test suite failed)\S.*?)\s*$/gm, /^FAIL\s+(\S+)\n\s*● Test suite failed to run/gm],
    passing: [/^\s*✓\s+(.+?)(?: \(\d+(?:\.\d+)? ?m?s\))?\s*$/gm],
  },
  // mocha
  {
    summary: /^\s*\d+ passing\b/m,
    failed: /^\s*[1-9]\d* failing\b/m,
    // In the list above its details; without a suite only there.
    failing: [/^ {4,}\d+\) (\S.*?)\s*$/gm, /^ {2}\d+\) (\S.*?):\s*$/gm],
    passing: [/^\s*✔\s+(.+?)(?: \(\d+ms\))?\s*$/gm],
  },
  // pytest
  {
    summary: /^=*\s*(?:\d+ (?:passed|failed|error|errors|skipped|xfailed|warnings?|deselected)\b[,\s]*)+.* in [\d.]+/m,
    failed: /^=*.*\b\d+ (?:failed|errors?)\b.* in [\d.]+/m,
    failing: [/^(?:FAILED|ERROR)\s+(\S+::.*?|\S+\.py)(?:\s+-\s.*)?$/gm],
    passing: [/^(?:PASSED\s+(\S+::\S+)|(\S+::\S.*?) PASSED\b.*)$/gm],
  },
  // unittest
  {
    summary: /^Ran \d+ tests? in /m,
    failed: /^FAILED \(/m,
    failing: [/^(?:FAIL|ERROR): (\S+(?: \([\w.]+\))?)/gm],
    passing: [/^(\w+ \([\w.]+\)) \.\.\. ok$/gm],
  },
  // go
  {
    summary: /^(?:ok\s+\S+|FAIL\s+\S+|---\s(?:PASS|FAIL):|PASS|FAIL|\?\s+\S+\s+\[no test files\])/m,
    failed: /^(?:FAIL\b|--- FAIL:)/m,
    failing: [/^\s*--- FAIL: (\S+)/gm],
    passing: [/^\s*--- PASS: (\S+)/gm],
  },
  // cargo
  {
    summary: /^test result: (?:ok|FAILED)\./m,
    failed: /^test result: FAILED\./m,
    failing: [/^test (\S+)(?: - .*)? \.\.\. FAILED/gm, /^\s*FAIL \[[^\]]+\]\s+(.+)$/gm],
    passing: [/^test (\S+)(?: - .*)? \.\.\. ok/gm],
  },
  // ctest
  {
    summary: /^\d+% tests passed, \d+ tests failed out of \d+/m,
    failed: /^\d+% tests passed, [1-9]\d* tests failed/m,
    failing: [/^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run|Exception|Subprocess aborted)\)/gm],
    passing: [/Test\s+#\d+: (\S+) \.+\s+Passed/gm],
  },
  // phpunit
  {
    summary: /^(?:OK \(\d+ tests?|FAILURES!|ERRORS!|Tests: \d+, Assertions: \d+)/m,
    failed: /^(?:FAILURES!|ERRORS!|Tests: .*\b(?:Failures|Errors): [1-9])/m,
    failing: [/^\d+\) (\S+::\S+(?: with data set .*)?)\s*$/gm],
    passing: [],
  },
  // rspec
  {
    summary: /^\d+ examples?, \d+ failures?/m,
    failed: /^\d+ examples?, [1-9]\d* failures?/m,
    failing: [/^rspec (\S+(?: # .*)?)$/gm],
    passing: [],
  },
  // gradle
  {
    summary: /^(?:BUILD (?:SUCCESSFUL|FAILED)|\d+ tests completed)/m,
    failed: /^BUILD FAILED|tests completed, [1-9]\d* failed/m,
    failing: [/^(\S.*? > \S.*?) FAILED\s*$/gm],
    passing: [/^(\S.*? > \S.*?) PASSED\s*$/gm],
  },
  // maven
  {
    summary: /^\[(?:INFO|ERROR|WARNING)\] Tests run: \d+/m,
    failed: /^\[ERROR\].*(?:Tests run: \d+, Failures: [1-9]|Failures: \d+, Errors: [1-9])|^\[INFO\] BUILD FAILURE/m,
    failing: [/^\[ERROR\]\s+(\w[\w.$]*\.\w+):\d+/gm, /^\[ERROR\] (\S+)\s+Time elapsed: .*(?:FAILURE|ERROR)!/gm],
    passing: [],
  },
  // dotnet
  {
    summary: /^\s*(?:Passed!|Failed!)\s+- Failed:|^Total tests: \d+/m,
    failed: /^\s*Failed!\s+- Failed:|^\s+Failed: [1-9]/m,
    failing: [/^\s*(?:Failed|\[xUnit\.net[^\]]*\])\s+(?!!)(\w[\w.<>+]*(?:\([^)]*\))?) \[/gm],
    passing: [/^\s*Passed\s+(?!!)(\w[\w.<>+]*(?:\([^)]*\))?) \[/gm],
  },
  // node --test, TAP
  {
    summary: /^(?:# tests \d+|ℹ tests \d+|1\.\.\d+)/m,
    failed: /^(?:# fail [1-9]|ℹ fail [1-9]|not ok \d+)/m,
    failing: [/^\s*not ok \d+ -? ?(.+?)(?: # .*)?$/gm, /^\s*✖ (?!failing tests)(.+?)(?: \([\d.]+ms\))?$/gm],
    passing: [/^\s*ok \d+ -? ?(.+?)(?: # .*)?$/gm, /^\s*✔ (.+?)(?: \([\d.]+ms\))?$/gm],
  },
]

/** What test runners print, whichever it was. null: no runner's summary is in it. */
export function readTestRun(output: string): TestRun | null {
  const told = RUNNERS.filter((runner) => runner.summary.test(output))
  if (told.length === 0) return null
  const names = (kind: 'failing' | 'passing'): string[] => [
    ...new Set(
      told.flatMap((runner) =>
        runner[kind].flatMap((one) => [...output.matchAll(one)].map((found) => (found[1] ?? found[2] ?? '').trim())),
      ),
    ),
  ]
  const failing = names('failing').filter((name) => name !== '')
  const passed = !told.some((runner) => runner.failed.test(output)) && failing.length === 0
  const failed = new Set(failing)
  return { passed, failing, passing: names('passing').filter((name) => name !== '' && !failed.has(name)) }
}
