/**
 * Lines with which a program says how a check ended, whatever command started it.
 * `check-verdicts.test.ts` runs all examples.
 */
interface Verdict {
  program: string
  /** Matches a line that says that the whole check passed. */
  passed?: RegExp
  failed?: RegExp
  /** True when `passed` also covers tests that the program ran. */
  isOfTests?: true
  /** True when `failed` counts only without a line that says that the check passed. */
  isWeak?: true
  passedExamples?: readonly string[]
  failedExamples?: readonly string[]
  /** Texts that say neither. */
  counterexamples?: readonly string[]
}

export const VERDICTS: readonly Verdict[] = [
  {
    program: 'make, ninja, cmake',
    failed: /^(?:g?make(?:\[\d+\])?: \*\*\* |ninja: build stopped)/m,
    failedExamples: [
      'make: *** [test] Error 1',
      'make[2]: *** [all] Error 2',
      'ninja: build stopped: subcommand failed.',
    ],
    counterexamples: ["make: Nothing to be done for 'all'."],
  },
  {
    program: 'mise',
    failed: /^(?:\[[^\]\n]{1,80}\] )?(?:mise )?ERROR (?:task failed|.*\bexited with non-zero status|no tasks? )/m,
    failedExamples: ['[lint:go] ERROR task failed', 'mise ERROR no task lnt found', '[test] ERROR task failed'],
    counterexamples: ['[lint] $ golangci-lint run'],
  },
  {
    program: 'just, task, turbo, nx',
    isOfTests: true,
    failed: new RegExp(
      String.raw`^error: Recipe \x60.*\x60 (?:failed|was terminated|could not)|^task: (?:Failed to run task|` +
        'Task ".*" ' +
        String.raw`does not exist)|^ ?ERROR {1,2}run failed: command |^ *Failed: {2,}\S+#\S+|` +
        '^ ?(?:NX|>  NX) .*(?:failed|Cannot find)',
      'm',
    ),
    passed: /^ *(?:NX|> {2}NX) +Successfully ran targets?|^ *Tasks: +(\d+) successful, \1 total/m,
    failedExamples: [
      'error: Recipe `test` failed on line 4 with exit code 1',
      'task: Failed to run task "build": exit status 2',
      ' ERROR  run failed: command  exited (1)',
      ' Failed:    web#test',
      ' NX   Ran target test for 3 projects: 1 failed',
    ],
    passedExamples: [' NX   Successfully ran target test for project shop', ' Tasks:    3 successful, 3 total'],
    counterexamples: [' Tasks:    2 successful, 3 total', 'The recipe for this dish failed.'],
  },
  {
    program: 'npm, pnpm, yarn, bun',
    failed: new RegExp(
      '^npm (?:ERR!|error) (?:code ELIFECYCLE|Lifecycle script|Missing script|Test failed|command failed)|' +
        String.raw`\bELIFECYCLE\b|^error Command failed with exit code|^error: script ".*" exited with code|` +
        String.raw`\bERR_PNPM_`,
      'm',
    ),
    failedExamples: [
      'npm ERR! code ELIFECYCLE',
      ' ELIFECYCLE  Command failed with exit code 1.',
      'error Command failed with exit code 2.',
      'error: script "test" exited with code 1',
      ' ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  web@1.0.0 test: `vitest run`',
    ],
    counterexamples: ['npm warn deprecated glob@7'],
  },
  {
    program: 'pre-commit hooks',
    failed: new RegExp(
      String.raw`^- hook id: \S+\n(?:- duration: .*\n)?- (?:exit code: [1-9]|files were modified)|` +
        '^husky - .*(?:failed|exited with code [1-9])',
      'm',
    ),
    failedExamples: ['lint....Failed\n- hook id: lint\n- exit code: 1', 'husky - pre-commit script failed (code 1)'],
    counterexamples: ['lint.....................Passed'],
  },
  {
    program: 'golangci-lint',
    passed: /^(?:\[\S+\] )?0 issues\.?$/m,
    failed: /^(?:\[\S+\] )?[1-9]\d* issues?(?::|\.)?$/m,
    passedExamples: ['0 issues.', '[lint:go] 0 issues.'],
    failedExamples: ['6 issues:', '[lint:go] 6 issues:'],
    counterexamples: ['There are 3 issues open.'],
  },
  {
    program: 'eslint, oxlint, stylelint, markdownlint',
    passed: /^Found 0 warnings and 0 errors/m,
    failed: /✖ \d+ problems? \([1-9]\d* errors?|^Found \d+ warnings? and [1-9]\d* errors?/m,
    failedExamples: ['✖ 3 problems (2 errors, 1 warning)', 'Found 0 warnings and 2 errors.'],
    passedExamples: ['Found 0 warnings and 0 errors.'],
    counterexamples: ['✖ 2 problems (0 errors, 2 warnings)'],
  },
  {
    program: 'tsc, vue-tsc, svelte-check',
    passed: /\bfound 0 errors\b(?! and [1-9])/i,
    failed: /\berror TS\d+:|^Found [1-9]\d* errors?\b|svelte-check found [1-9]\d* errors?/m,
    failedExamples: [
      "src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
      'Found 3 errors in 2 files.',
      'svelte-check found 2 errors and 0 warnings',
    ],
    passedExamples: ['svelte-check found 0 errors and 0 warnings'],
    counterexamples: ['TS2304 is a code of the compiler.'],
  },
  {
    program: 'prettier, biome',
    passed: new RegExp(
      '^All matched files use Prettier code style!|' +
        String.raw`^Checked \d+ files? in \S+?(?:s|ms|µs)\. (?:No fixes applied|Fixed \d+ files?)\.\s*$` +
        String.raw`(?![\s\S]*Found [1-9]\d* error)`,
      'm',
    ),
    failed: /^\[warn\] Code style issues (?:found|were)|^\[error\] \S+: SyntaxError|^Found [1-9]\d* errors?\./m,
    passedExamples: ['All matched files use Prettier code style!', 'Checked 12 files in 40ms. No fixes applied.'],
    failedExamples: [
      '[warn] Code style issues found in 2 files.',
      'Checked 3 files in 9ms. No fixes applied.\nFound 2 errors.',
    ],
    counterexamples: ['[warn] src/a.ts'],
  },
  {
    program: 'ruff, mypy, pyright, black, pylint',
    passed: /^(?:All checks passed!|Success: no issues found|0 errors, \d+ warnings?|All done! ✨)/m,
    failed:
      /^(?:Found [1-9]\d* errors?(?: in \d+ files?| \(|\.)|[1-9]\d* errors?, \d+ warnings?|would reformat |Oh no! )/m,
    passedExamples: [
      'All checks passed!',
      'Success: no issues found in 4 source files',
      '0 errors, 0 warnings, 0 informations',
    ],
    failedExamples: [
      'Found 3 errors.',
      'Found 1 error in 1 file (checked 4 source files)',
      '2 errors, 0 warnings',
      'would reformat a.py',
    ],
    counterexamples: ['The run found errors in two places.'],
  },
  {
    program: 'cargo, rustc, gcc, clang, go, javac',
    passed: /^ *Finished (?:\x60?\w+\x60? )(?:profile |\[)/m,
    failed: new RegExp(
      String.raw`^error(?:\[E\d+\])?: (?:could not compile|test failed|aborting|.*\n +--> )|` +
        String.raw`^\S+\.(?:c|cc|cpp|h|hpp|m|rs|swift|kt|java|go):\d+(?::\d+)?: (?:fatal )?error:|` +
        String.raw`^# \S+\n(?:vet: )?\S+\.go:\d+:\d+: |\[(?:build|setup) failed\]`,
      'm',
    ),
    passedExamples: [
      '    Finished `dev` profile [unoptimized] target(s) in 1.2s',
      '    Finished dev [unoptimized] target(s) in 1s',
    ],
    failedExamples: [
      'error: could not compile `gate` (lib) due to 2 previous errors',
      'main.c:3:5: error: expected expression',
      '# example.org/gate\n./main.go:7:2: undefined: start',
      'FAIL\texample.org/gate [build failed]',
    ],
    counterexamples: ['warning: unused variable'],
  },
  {
    program: 'vite, webpack, next, terraform, docker',
    passed: new RegExp(
      String.raw`^✓ built in |^ ?✓ Compiled successfully|\bcompiled successfully in |` +
        '^Success! The configuration is valid|^Build complete!',
      'm',
    ),
    failed: new RegExp(
      String.raw`^(?:x |✗ )?(?:Build failed in|error during build:|Failed to compile\.?$)|` +
        String.raw`\bcompiled with \d+ errors?|` +
        '^ERROR: failed to (?:solve|build)',
      'm',
    ),
    passedExamples: ['✓ built in 3.41s', 'webpack 5.9 compiled successfully in 300 ms'],
    failedExamples: [
      'error during build:',
      'Failed to compile.',
      'webpack compiled with 2 errors',
      'ERROR: failed to solve: process',
    ],
    counterexamples: ['The build has started.'],
  },
  {
    program: 'gradle, maven, xcodebuild, dotnet',
    isOfTests: true,
    passed: /^(?:BUILD SUCCESSFUL|\[INFO\] BUILD SUCCESS|\*\* (?:TEST|BUILD|ARCHIVE) SUCCEEDED \*\*)/m,
    failed: new RegExp(
      String.raw`^(?:BUILD FAILED|\[(?:INFO|ERROR)\] BUILD FAILURE|\*\* (?:TEST|BUILD|ARCHIVE) FAILED \*\*|` +
        String.raw`Build FAILED\.)|\berror (?:CS|MSB|NETSDK|FS)\d+:`,
      'm',
    ),
    passedExamples: ['BUILD SUCCESSFUL in 3s', '** TEST SUCCEEDED **'],
    failedExamples: ['BUILD FAILED in 3s', '** BUILD FAILED **', 'a.cs(1,2): error CS0103: The name does not exist'],
    counterexamples: ['Build succeeded?'],
  },
  {
    program: 'shells and language runtimes',
    isWeak: true,
    failed: new RegExp(
      String.raw`^(?:\S*(?:ba|z)?sh: )?(?:line \d+: )?\S+: command not found$|^zsh:\d+: command not found|` +
        String.raw`^Traceback \(most recent call last\):|^panic: |^node:internal/|^exit status [1-9]|` +
        String.raw`^(?:exit|exited with|process exited with)(?: code| status)?[: ]+[1-9]\d{0,2}$`,
      'im',
    ),
    failedExamples: ['bash: line 1: pytest: command not found', 'exit status 1', 'exit: 1'],
    counterexamples: ['exit: 0', 'It did not panic: all is well.'],
  },
]
