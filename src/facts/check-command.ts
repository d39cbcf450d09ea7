import { baseName } from './paths.js'
import { parseCommandLine, programOf, type ShellRun } from './shell.js'

/** A program of a command line that checks the work. */
export interface Check {
  kind: 'test' | 'lint' | 'build'
  /** Identifies the same check in other command lines: its words without filters and wrappers. */
  key: string
  /** True for a task of the project, so that its name alone says what it does. */
  isTask: boolean
  /** Position in `parseCommandLine(command)`. */
  index: number
}

/** Words of a task's name that make it a check, whatever runs the task. */
const TASK_WORDS: [Check['kind'], RegExp][] = [
  ['test', /^(?:tests?|specs?|e2e|unit|integration|coverage|cov|smoke|jest|vitest|pytest|playwright|cypress)$/],
  ['lint', /^(?:lint|linter|eslint|clippy|vet|check|checks|typecheck|types|tsc|verify|validate|ci|analy[sz]e|mypy)$/],
  ['build', /^(?:build|builds|compile|bundle|dist|package)$/],
]

/** Returns the kind of check that a task's name promises. Null for other tasks. */
function kindOfTask(name: string): Check['kind'] | null {
  const words = name
    .toLowerCase()
    .replace(/\.(?:sh|py|js|ts|mjs|rb)$/, '')
    .split(/[^a-z0-9]+/)
  return TASK_WORDS.find(([, pattern]) => words.some((word) => pattern.test(word)))?.[0] ?? null
}

/**
 * Programs that are checks, recognised by program and leading arguments.
 * Each pattern reads the words after wrappers such as `npx`, joined by spaces.
 */
const PROGRAMS: [Check['kind'], RegExp][] = [
  [
    'test',
    new RegExp(
      String.raw`^(?:vitest|jest|mocha|ava|jasmine|karma|cypress run|playwright test|pytest|py\.test|unittest|` +
        'nosetests|tox|nox|go test|gotestsum|ginkgo|cargo (?:\\+\\S+ )?(?:test|nextest|llvm-cov)|ctest|phpunit|' +
        'pest|rspec|' +
        'rake (?:test|spec)|rails test|dotnet (?:test|vstest)|swift test|mix test|deno test|bun test|node --test|' +
        'bazel test|meson test|zig build test|zig test|flutter test|dart test|busted|bats|stack test|' +
        String.raw`cabal test|lein test|newman run|k6 run|hatch test|hurl --test)(?=\s|$)`,
    ),
  ],
  [
    'lint',
    new RegExp(
      '^(?:tsc|vue-tsc|svelte-check|eslint|oxlint|biome (?:check|ci|lint)|prettier (?:.* )?(?:--check|-c)|standard|' +
        'stylelint|ruff(?: check| format --check)?|mypy|pyright|basedpyright|flake8|pylint|black (?:.* )?--check|' +
        'isort (?:.* )?--check|bandit|golangci-lint|staticcheck|revive|go vet|' +
        'cargo (?:\\+\\S+ )?(?:check|clippy|deny|audit)|' +
        'cargo (?:\\+\\S+ )?fmt (?:.* )?--check|rubocop|standardrb|shellcheck|hadolint|ktlint|detekt|' +
        'swiftlint|markdownlint\\S*|' +
        'yamllint|actionlint|phpstan|psalm|cspell|knip|buf lint|terraform (?:validate|fmt (?:.* )?-check)|tflint|' +
        'pre-commit run|lefthook run|mix (?:credo|dialyzer)|sqlfluff lint|dart analyze|flutter analyze|deno (?:lint|' +
        String.raw`check)|nix flake check|helm lint|clang-tidy|cppcheck|luacheck|hlint)(?=\s|$)`,
    ),
  ],
  [
    'build',
    new RegExp(
      '^(?:go (?:build|install)|cargo (?:\\+\\S+ )?build|next build|vite build|nuxt build|astro build|' +
        'webpack|rollup|tsup|' +
        'cmake --build|ninja|dotnet (?:build|publish)|swift build|xcodebuild|mix compile|docker(?: buildx)? build|' +
        'docker compose build|zig build|meson compile|bazel build|flutter build|javac|gcc|g\\+\\+|clang|rustc|' +
        String.raw`mkdocs build|hugo|python3? -m build|nix build|nixos-rebuild|tauri build|expo export)(?=\s|$)`,
    ),
  ],
]

/** Programs that run another program, which begins at the first word that is no option. */
const WRAPPERS = new RegExp(
  '^(?:npx|bunx|pnpx|(?:pnpm|yarn|npm) (?:exec|dlx|x)|bun x|(?:uv|poetry|pipenv|hatch|rye|pdm|pixi) run|' +
    'bundle exec|python3? -m|(?:mise|rtx) (?:exec|x)|direnv exec \\S+|nix develop|nix-shell|devbox run|' +
    'docker(?:-| )compose (?:exec|run)|docker (?:exec|run)|xvfb-run|dotenv|cross-env|dotnet tool run|' +
    String.raw`uvx|pipx run|op run|doppler run|infisical run|caffeinate|stdbuf|unbuffer|chronic)(?=\s|$)\s*`,
)
/** Options of wrappers and task runners that take the next word as their value. */
const VALUED = new RegExp(
  '^(?:-C|-F|-p|-w|-f|-j|--filter|--filter-prod|--prefix|--workspace|--cwd|--directory|--makefile|--package|' +
    '--dir|--justfile|--working-directory|--with|--from|--python|--project|--taskfile|--env-file|-u|-e)$',
)

const TASK_RUNNERS: { program: RegExp; task: (words: readonly string[]) => readonly string[] }[] = [
  { program: /^(?:make|gmake|just|task|go-task|rake|invoke|inv|poe|mage|ant|doit|earthly)$/, task: (words) => words },
  { program: /^(?:npm|pnpm|yarn|bun|composer|rush|rushx|lerna|wireit|nps)$/, task: scriptOf },
  { program: /^(?:mise|rtx|deno|pixi|moon|hatch|devbox|ni|nr)$/, task: afterRun },
  { program: /^(?:turbo|turborepo)$/, task: afterRun },
  { program: /^nx$/, task: nxTargets },
  { program: /^(?:gradlew?|mvnw?|mvnd|sbt|lein|bleep|mill)$/, task: (words) => words },
]

/** Commands of package managers that are no script of the project. */
const MANAGES = new RegExp(
  '^(?:install|i|ci|add|remove|rm|uninstall|update|upgrade|up|publish|pack|init|create|link|audit|outdated|why|' +
    'ls|list|info|view|config|cache|login|whoami|version|prune|dedupe|store|env|global|set|fund|search|docs)$',
)

function scriptOf(words: readonly string[]): readonly string[] {
  let rest = words
  if (rest[0] === 'workspace') rest = rest.slice(2)
  if (rest[0] === 'workspaces' || rest[0] === 'foreach') rest = rest.slice(1)
  if (rest[0] === 'run' || rest[0] === 'run-script') return rest.slice(1, 2)
  if (rest[0] === 't' || rest[0] === 'tst') return ['test']
  return rest[0] === undefined || MANAGES.test(rest[0]) ? [] : rest.slice(0, 1)
}

function afterRun(words: readonly string[]): readonly string[] {
  return words[0] === 'run' || words[0] === 'r' || words[0] === 'task' ? words.slice(1) : words
}

function nxTargets(words: readonly string[]): readonly string[] {
  if (words[0] === 'run') return words.slice(1, 2)
  return words[0] === 'run-many' || words[0] === 'affected' ? words.slice(1) : words.slice(0, 1)
}

/** Returns words without options, and without the values that some options take. */
function withoutOptions(words: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (word === '--') break
    const target = /^(?:--targets?|-t)=?(.*)$/.exec(word)
    if (target !== null) kept.push(target[1] === '' ? (words[++i] ?? '') : target[1]!)
    else if (VALUED.test(word)) i++
    else if (!word.startsWith('-') && !/^\w+=/.test(word)) kept.push(word)
  }
  return kept.flatMap((word) => word.split(',')).filter((word) => word !== '')
}

/** Returns the words of a run without the programs that only run another one. */
function ownWords(run: ShellRun): string[] {
  let words = programOf(run).map(({ text }) => text)
  for (let depth = 0; depth < MOST_WRAPPERS; depth++) {
    if (words[0] === undefined) return words
    const program = baseName(words[0])
    words = [program, ...(PACKAGE_MANAGER.test(program) ? afterOptions(words.slice(1)) : words.slice(1))]
    const joined = words.slice(0, 4).join(' ')
    const wrapper = WRAPPERS.exec(joined)
    if (wrapper === null) break
    let at = wrapper[0].trim().split(' ').length
    while (at < words.length && (/^-/.test(words[at]!) || /^\w+=/.test(words[at]!))) {
      const isEnd = /^(?:--|-c|--command)$/.test(words[at]!)
      at += VALUED.test(words[at]!) ? 2 : 1
      if (isEnd) break
    }
    // `docker exec web pytest` names a container first.
    if (/^docker/.test(wrapper[0])) at++
    words = words.slice(at)
  }
  return words
}

const PACKAGE_MANAGER = /^(?:npm|pnpm|yarn|bun)$/

/** Returns the words from the first one that is neither an option nor an option's value. */
function afterOptions(words: readonly string[]): readonly string[] {
  let at = 0
  while (words[at]?.startsWith('-')) at += VALUED.test(words[at]!) ? 2 : 1
  return words.slice(at)
}

/** Wrappers inside each other that are considered. */
const MOST_WRAPPERS = 4
const SHELL = /^(?:ba|z|da|k)?sh$/
const SCRIPT = /^(?!\/)(?:.*\.(?:sh|bash|zsh)|(?:\.\/)?(?:bin|scripts?|tools|hack|ci|dev)\/.*|\.\/[\w-]+)$/
/** Arguments with which a program only tells about itself. */
const ABOUT_ITSELF =
  /^(?:version|--version|-V|help|--help|-h|linters|config|cache|init|--init|completion|install|clean)$/

function checkOfRun(run: ShellRun): Omit<Check, 'index'> | null {
  const full = programOf(run).map(({ text }) => text)
  const words = ownWords(run)
  const [program] = words
  if (program === undefined) return null
  const joined = words.slice(0, 12).join(' ')
  const key = words.join(' ')
  const found = PROGRAMS.find(([, pattern]) => pattern.test(joined))
  if (words.includes('--help') || ABOUT_ITSELF.test(words[1] ?? '') || ABOUT_ITSELF.test(words[2] ?? '')) return null
  if (found !== undefined) return { kind: found[0], key, isTask: false }
  const runner = TASK_RUNNERS.find((one) => one.program.test(program))
  if (runner !== undefined) {
    const tasks = runner.task(withoutOptions(words.slice(1)))
    if (/^(?:make|ninja)$/.test(program) && tasks.length === 0) return { kind: 'build', key, isTask: true }
    const kinds = tasks.flatMap((task) => kindOfTask(task) ?? [])
    const kind = TASK_WORDS.find(([one]) => kinds.includes(one))?.[0]
    return kind === undefined ? null : { kind, key, isTask: true }
  }
  const script = SHELL.test(program) ? words.find((word, i) => i > 0 && !word.startsWith('-')) : full[0]
  if (script === undefined || !SCRIPT.test(script)) return null
  const kind = kindOfTask(baseName(script))
  return kind === null ? null : { kind, key, isTask: true }
}

/** Quick filter: every check contains one of these. */
const MAY_CHECK = new RegExp(
  'test|spec|check|lint|build|compile|vet|verify|valid|tsc|jest|mocha|\\bava\\b|jasmine|karma|cypress|playwright|tox|' +
    'nox|rspec|phpunit|pest|bats|busted|ruff|mypy|pyright|flake8|black|bandit|rubocop|clippy|make|ninja|gcc|g\\+\\+|' +
    'clang|javac|rustc|webpack|rollup|tsup|hugo|cov|e2e|smoke|unit|bundle|dist|package|analy|\\bci\\b|types|gradle|' +
    'mvn|sbt|phpstan|psalm|knip|detekt|pre-commit|lefthook|credo|dialyzer|install|standard|revive|ginkgo|newman|k6|' +
    'audit|deny|publish|rebuild|export|isort|prettier|\\bt\\b|just|task|flake',
)

/** Returns the checks that a command line runs, in order. Words inside quotes are no programs. */
export function checksIn(command: string): readonly Check[] {
  if (!MAY_CHECK.test(command)) return []
  const known = parsed.get(command)
  if (known !== undefined) return known
  const checks = parseCommandLine(command).flatMap((run, index): Check[] => {
    const inner = innerCommand(run)
    if (inner !== null) return checksIn(inner).map((check) => ({ ...check, index }))
    const check = checkOfRun(run)
    return check === null ? [] : [{ ...check, index }]
  })
  if (parsed.size >= MOST_KEPT) parsed.clear()
  parsed.set(command, checks)
  return checks
}

/** Cached, because commands are repeated and several watchers read them. */
const parsed = new Map<string, readonly Check[]>()
const MOST_KEPT = 200

/** Returns the command line that `sh -c` is given. Null for any other run. */
function innerCommand(run: ShellRun): string | null {
  const words = ownWords(run)
  if (words[0] === undefined || !SHELL.test(words[0])) return null
  const at = words.findIndex((word, i) => i > 0 && /^-\w*c$/.test(word))
  return at < 0 ? null : (words[at + 1] ?? null)
}

/** True when a command line runs tests. */
export function runsTests(command: string): boolean {
  return checksIn(command).some(({ kind }) => kind === 'test')
}
