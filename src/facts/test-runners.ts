/** The result of one test run. */
export interface TestRun {
  passed: boolean
  /** True when the output says that the whole run passed, even if a filter removed other lines. */
  isVerdict: boolean
  failing: string[]
  /** Returns the names of passed tests; computed on demand, because there may be thousands. */
  passing: () => string[]
}

interface Runner {
  /** Matches commands that name the runner. */
  named: RegExp
  /** Texts of which every summary contains one. They are searched first, because that is cheap. */
  signs: string[]
  /** Matches a line of the summary; `failed` matches one that reports failures. */
  summary: RegExp
  failed: RegExp
  /**
   * Matches a line that alone says that the whole run passed.
   * A filter may have removed all other lines. Absent when the runner prints no such line.
   */
  verdict?: RegExp
  /** Patterns of failed tests, with the name in the first group. */
  failing: RegExp[]
  passing: RegExp[]
}

const RUNNERS: Runner[] = [
  {
    named: /\b(?:vitest)/,
    signs: ['Test Files', 'Tests ', 'FAIL '],
    summary: /^[ \t]*(?:Test Files|Tests)\s+.*\b(?:passed|failed)\b|^[ \t]*FAIL\s+\S+\.(?:test|spec)\.\w+ (?:\[|>)/m,
    failed: /^[ \t]*(?:Test Files|Tests)\s+.*\b\d+ failed|^[ \t]*FAIL\s/m,
    verdict: /^[ \t]*Tests\s+(?!.*\bfailed)\d+ passed/m,
    failing: [
      /^[ \t]*FAIL\s+(\S+\.(?:test|spec)\.\w+) \[/gm,
      /^[ \t]*FAIL\s+(?:\|[^|]+\|\s*)?(\S.*?\s>\s.*?)(?:\s+\d+ms)?[ \t]*$/gm,
      /^[ \t]*[×✗]\s+(\S+\.(?:test|spec)\.\w+\s>\s.*?)(?:\s+\d+ms)?[ \t]*$/gm,
    ],
    passing: [/^[ \t]*✓\s+(\S+\.(?:test|spec)\.\w+\s>\s.*?)(?:\s+\d+ms)?[ \t]*$/gm],
  },
  {
    named: /\b(?:jest)/,
    signs: ['Tests:', 'Test Suites:'],
    summary: /^(?:Test Suites|Tests):\s+.*\btotal\b/m,
    failed: /^(?:Test Suites|Tests):\s+.*\b\d+ failed/m,
    verdict: /^Tests:\s+(?!.*\bfailed).*\btotal\b/m,
    failing: [
      /^[ \t]*●\s+((?!Console|Test suite failed)\S.*?)[ \t]*$/gm,
      /^FAIL\s+(\S+)\n\s*● Test suite failed to run/gm,
    ],
    passing: [/^[ \t]*✓\s+(.+?)(?: \(\d+(?:\.\d+)? ?m?s\))?[ \t]*$/gm],
  },
  {
    named: /\b(?:mocha)/,
    signs: [' passing'],
    summary: /^[ \t]*\d+ passing\b/m,
    failed: /^[ \t]*[1-9]\d* failing\b/m,
    // Names are in the list above the details; tests without a suite are only in the details.
    failing: [/^ {4,}\d+\) (\S.*?)[ \t]*$/gm, /^ {2}\d+\) (\S.*?):[ \t]*$/gm],
    passing: [/^[ \t]*✔\s+(.+?)(?: \(\d+ms\))?[ \t]*$/gm],
  },
  {
    named: /\b(?:pytest|py\.test)/,
    signs: [' passed', ' failed', ' error', ' skipped', ' deselected'],
    summary:
      /^=*[ \t]*(?:\d+ (?:passed|failed|error|errors|skipped|xfailed|warnings?|deselected)\b[, \t]*)+.* in [\d.]+/m,
    failed: /^.*\b\d+ (?:failed|errors?)\b.* in [\d.]/m,
    verdict: /^=*[ \t]*(?!.*\b\d+ (?:failed|error))\d+ passed\b.* in [\d.]+/m,
    failing: [/^(?:FAILED|ERROR)\s+(\S+::.*?|\S+\.py)(?:\s+-\s.*)?$/gm],
    passing: [/^(?:PASSED\s+(\S+::\S+)|(\S+::\S.*?) PASSED\b.*)$/gm],
  },
  {
    named: /\b(?:unittest)/,
    signs: ['Ran '],
    summary: /^Ran \d+ tests? in /m,
    failed: /^FAILED \(/m,
    failing: [/^(?:FAIL|ERROR): (\S+(?: \([\w.]+\))?)/gm],
    passing: [/^(\w+ \([\w.]+\)) \.\.\. ok$/gm],
  },
  {
    named: /\b(?:go test|gotestsum)/,
    signs: ['ok ', 'ok\t', 'FAIL', 'PASS', '[no test files]'],
    summary: /^(?:ok\s+\S+|FAIL\s+\S+|---\s(?:PASS|FAIL):|PASS|FAIL|\?\s+\S+\s+\[no test files\])/m,
    failed: /^(?:FAIL\b|--- FAIL:)/m,
    failing: [/^[ \t]*--- FAIL: (\S+)/gm],
    passing: [/^[ \t]*--- PASS: (\S+)/gm],
  },
  {
    named: /\b(?:cargo)/,
    signs: ['test result:'],
    summary: /^test result: (?:ok|FAILED)\./m,
    failed: /^test result: FAILED\./m,
    failing: [/^test (\S+)(?: - .*)? \.\.\. FAILED/gm, /^[ \t]*FAIL \[[^\]]+\]\s+(.+)$/gm],
    passing: [/^test (\S+)(?: - .*)? \.\.\. ok/gm],
  },
  {
    named: /\b(?:ctest)/,
    signs: ['% tests passed'],
    summary: /^\d+% tests passed, \d+ tests failed out of \d+/m,
    failed: /^\d+% tests passed, [1-9]\d* tests failed/m,
    verdict: /^100% tests passed/m,
    failing: [/^[ \t]*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run|Exception|Subprocess aborted)\)/gm],
    passing: [/Test\s+#\d+: (\S+) \.+\s+Passed/gm],
  },
  {
    named: /\b(?:phpunit|pest)/,
    signs: ['OK (', 'FAILURES!', 'ERRORS!', 'Assertions:'],
    summary: /^(?:OK \(\d+ tests?|FAILURES!|ERRORS!|Tests: \d+, Assertions: \d+)/m,
    failed: /^(?:FAILURES!|ERRORS!|Tests: .*\b(?:Failures|Errors): [1-9])/m,
    verdict: /^OK \(\d+ tests?/m,
    failing: [/^\d+\) (\S+::\S+(?: with data set .*)?)[ \t]*$/gm],
    passing: [],
  },
  {
    named: /\b(?:rspec)/,
    signs: [' example'],
    summary: /^\d+ examples?, \d+ failures?/m,
    failed: /^\d+ examples?, [1-9]\d* failures?/m,
    verdict: /^\d+ examples?, 0 failures/m,
    failing: [/^rspec (\S+(?: # .*)?)$/gm],
    passing: [],
  },
  {
    named: /\b(?:gradle)/,
    signs: ['BUILD ', 'tests completed'],
    summary: /^(?:BUILD (?:SUCCESSFUL|FAILED)|\d+ tests completed)/m,
    failed: /^BUILD FAILED|tests completed, [1-9]\d* failed/m,
    verdict: /^BUILD SUCCESSFUL/m,
    failing: [/^(\S.*? > \S.*?) FAILED[ \t]*$/gm],
    passing: [/^(\S.*? > \S.*?) PASSED[ \t]*$/gm],
  },
  {
    named: /\b(?:mvn)/,
    signs: ['Tests run:'],
    summary: /^\[(?:INFO|ERROR|WARNING)\] Tests run: \d+/m,
    failed: /^\[ERROR\].*(?:Tests run: \d+, Failures: [1-9]|Failures: \d+, Errors: [1-9])|^\[INFO\] BUILD FAILURE/m,
    verdict: /^\[INFO\] BUILD SUCCESS/m,
    failing: [/^\[ERROR\]\s+(\w[\w.$]*\.\w+):\d+/gm, /^\[ERROR\] (\S+)\s+Time elapsed: .*(?:FAILURE|ERROR)!/gm],
    passing: [],
  },
  {
    named: /\b(?:dotnet)/,
    signs: ['Failed:', 'Total tests:'],
    summary: /^[ \t]*(?:Passed!|Failed!)\s+- Failed:|^Total tests: \d+/m,
    failed: /^[ \t]*Failed!\s+- Failed:|^[ \t]+Failed: [1-9]/m,
    verdict: /^[ \t]*Passed!\s+- Failed:/m,
    failing: [/^[ \t]*(?:Failed|\[xUnit\.net[^\]]*\])\s+(?!!)(\w[\w.<>+]*(?:\([^)]*\))?) \[/gm],
    passing: [/^[ \t]*Passed\s+(?!!)(\w[\w.<>+]*(?:\([^)]*\))?) \[/gm],
  },
  {
    named: /\b(?:node --test)/,
    signs: ['# tests', 'ℹ tests', '1..'],
    summary: /^(?:# tests \d+|ℹ tests \d+|1\.\.\d+)/m,
    failed: /^(?:# fail [1-9]|ℹ fail [1-9]|not ok \d+)/m,
    verdict: /^(?:# fail 0|ℹ fail 0)/m,
    failing: [/^[ \t]*not ok \d+ -? ?(.+?)(?: # .*)?$/gm, /^[ \t]*✖ (?!failing tests)(.+?)(?: \([\d.]+ms\))?$/gm],
    passing: [/^[ \t]*ok \d+ -? ?(.+?)(?: # .*)?$/gm, /^[ \t]*✔ (.+?)(?: \([\d.]+ms\))?$/gm],
  },
]

/** Parses the output of any known test runner. Null when it contains no runner's summary. */
export function readTestRun(printed: string, command: string): TestRun | null {
  const output = shortenOutput(printed)
  const own = RUNNERS.filter(({ named, summary }) => named.test(command) && summary.test(output))
  const told =
    own.length > 0
      ? own
      : RUNNERS.filter(({ signs, summary }) => signs.some((sign) => output.includes(sign)) && summary.test(output))
  if (told.length === 0) return null
  const names = (kind: 'failing' | 'passing'): string[] => [
    ...new Set(
      told.flatMap((runner) =>
        runner[kind].flatMap((one) => [...output.matchAll(one)].map((found) => (found[1] ?? found[2] ?? '').trim())),
      ),
    ),
  ]
  const passed = !told.some((runner) => runner.failed.test(output))
  const failing = passed ? [] : names('failing').filter((name) => name !== '')
  const isVerdict = passed && told.some(({ verdict }) => verdict?.test(output) === true)
  return { passed, isVerdict, failing, passing: () => names('passing') }
}

/** Limit of a line; no runner prints longer ones. */
const LONGEST_LINE = 500

/** Shortens long lines and wide gaps, in which patterns would backtrack too often. */
function shortenOutput(printed: string): string {
  const lined = printed.includes('\r') ? printed.replace(/\r+\n?/g, '\n') : printed
  const output = lined.replace(/[ \t]{9,}/g, '        ').replace(/\n{3,}/g, '\n\n')
  for (let start = 0; start < output.length; ) {
    const end = output.indexOf('\n', start)
    const stop = end < 0 ? output.length : end
    if (stop - start > LONGEST_LINE) return cutLines(output)
    start = stop + 1
  }
  return output
}

const cutLines = (output: string): string =>
  output
    .split('\n')
    .map((line) => line.slice(0, LONGEST_LINE))
    .join('\n')
