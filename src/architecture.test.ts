import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = import.meta.dirname
const ROOT = dirname(SRC)

/** Who may import whom. `house.ts`, the hook's two programs, the library and the commands join rooms; a room never does. */
const MAY_IMPORT: Record<string, string[]> = {
  contract: [],
  lib: ['contract'],
  model: [],
  tracker: ['contract'],
  policy: ['contract'],
  facts: ['contract', 'lib'],
  config: ['contract', 'lib'],
  agents: ['contract', 'lib'],
  store: ['contract', 'lib'],
  archive: ['contract', 'lib', 'store'],
  delivery: ['contract', 'lib'],
  compaction: ['contract', 'facts'],
  handoff: ['contract', 'lib', 'facts'],
  briefs: ['contract', 'lib', 'store', 'handoff'],
  jobs: ['contract', 'lib', 'store', 'agents', 'handoff'],
  engine: ['contract', 'lib', 'tracker', 'policy', 'facts', 'handoff', 'compaction', 'agents', 'store'],
  server: ['contract', 'lib', 'agents', 'store', 'engine'],
  install: ['contract', 'lib', 'agents'],
  hook: ['contract', 'lib', 'policy', 'engine'],
  'house.ts': ['contract', 'lib', 'config', 'policy', 'agents', 'archive', 'store', 'delivery', 'engine', 'hook'],
  'hook/config-main.ts': ['config'],
  'hook/engine-start.ts': [],
  'hook/keep-main.ts': ['archives-of.ts', 'around.ts', 'hand-driver.ts', 'house.ts'],
  'hand-driver.ts': ['lib', 'delivery', 'engine', 'hand-fork.ts', 'house.ts', 'terminals.ts'],
  'hand-fork.ts': ['lib', 'agents', 'engine', 'house.ts'],
  'message-typist.ts': ['delivery', 'engine', 'house.ts', 'terminals.ts'],
  'terminals.ts': ['agents', 'delivery'],
  'archives-of.ts': ['contract', 'agents', 'archive', 'house.ts'],
  'jobs-of.ts': ['contract', 'lib', 'agents', 'engine', 'jobs', 'house.ts', 'jobs-observer.ts'],
  'jobs-observer.ts': ['contract', 'lib', 'jobs', 'house.ts'],
  'around.ts': ['lib', 'briefs', 'agents', 'engine', 'version.ts'],
  'hook/engine-main.ts': ['contract', 'lib', 'config', 'agents', 'archive', 'engine', 'hook', 'house.ts'],
  library: ['contract', 'lib', 'config', 'policy', 'agents', 'engine', 'around.ts', 'house.ts'],
  'index.ts': ['contract', 'lib', 'library'],
  'version.ts': [],
  cli: [
    ...['contract', 'lib', 'config', 'policy', 'facts', 'handoff', 'briefs', 'agents', 'store', 'archive', 'engine', 'model'],
    ...[
      'jobs',
      'jobs-of.ts',
      'server',
      'install',
      'hook',
      'archives-of.ts',
      'around.ts',
      'house.ts',
      'message-typist.ts',
      'version.ts',
    ],
  ],
}
const ENTRIES = ['hook/config-main.ts', 'hook/engine-main.ts', 'hook/engine-start.ts', 'hook/keep-main.ts']

/** Packages, where they may be used at all. `@photostructure/sqlite` is loaded by name in the store's driver. */
const PACKAGES: Record<string, string[]> = {
  yaml: ['lib/yaml-file.ts'],
  valibot: ['contract/api', 'config', 'model', 'install', 'server'],
  '@valibot/to-json-schema': ['server'],
  hono: ['server'],
  '@hono/node-server': ['server'],
}

interface Import {
  from: string
  /** A path below src, or the name of a package or builtin. */
  to: string
  /** Erased before the program runs. */
  type: boolean
  /** Loaded only when it is needed. */
  lazy: boolean
}

const files = (readdirSync(SRC, { recursive: true }) as string[])
  .filter((name) => name.endsWith('.ts'))
  .map((name) => normalize(name))
/** Tests, what only tests use, and what is run by them. */
const isForTests = (file: string): boolean =>
  /\.(test|cases)\.ts$|(^|\/)fixtures\/|(^|\/)trial(-home|-session|-server|-job)?\.ts$/.test(file) ||
  /^(cli\/render\/a-session|jobs\/a-job|facts\/(a-conversation|a-fact))\.ts$/.test(file)
const sources = files.filter((file) => !isForTests(file))
const text = (file: string): string => readFileSync(join(SRC, file), 'utf8')
const roomOf = (file: string): string => (ENTRIES.includes(file) || !file.includes('/') ? file : file.split('/', 1)[0]!)

function importsOf(file: string): Import[] {
  const found = text(file).matchAll(/^(?:import|export) (type )?[^'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)
  return [...found].map(([, type, from, bare, lazy]) => {
    const name = (from ?? bare ?? lazy)!
    const to = name.startsWith('.') ? relative(SRC, join(SRC, dirname(file), name.replace(/\.js$/, '.ts'))) : name
    return { from: file, to, type: type !== undefined, lazy: lazy !== undefined }
  })
}

const imports = sources.flatMap(importsOf)
const own = imports.filter(({ to }) => files.includes(to))

describe('who imports whom', () => {
  it('every room is in the table here and in ARCHITECTURE.md', () => {
    const rooms = [...new Set(sources.map(roomOf))]
    expect(rooms.filter((room) => !(room in MAY_IMPORT))).toEqual([])
    expect(Object.keys(MAY_IMPORT).filter((room) => !rooms.includes(room))).toEqual([])
    const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([^`]+?)\/?` \| .* \| ([^|]+) \|$/gm)]
    const told = rows.map(([, room, may]) => [room!, may === '–' ? [] : may!.split(', ').sort()] as const)
    const wanted = Object.entries(MAY_IMPORT).map(([room, may]) => [room, [...may].sort()] as const)
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(wanted))
    expect(rows).toHaveLength(rooms.length)
  })

  it('the ways told in ARCHITECTURE.md lead through files that are there', () => {
    const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    const named = [...page.matchAll(/`(src\/[\w./-]+)`/g)].map(([, path]) => path!)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  it('a room imports only what it may', () => {
    const wrong = own
      .map(({ from, to }) => ({ from, to, allowed: MAY_IMPORT[roomOf(from)] ?? [] }))
      .filter(({ from, to, allowed }) => roomOf(from) !== roomOf(to) && !allowed.includes(roomOf(to)))
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('this test sees imports: the engine’s, a lazy one, a type', () => {
    expect(own).toContainEqual({ from: 'engine/measure.ts', to: 'tracker/tracker.ts', type: false, lazy: false })
    expect(own).toContainEqual({ from: 'engine/draft.ts', to: 'agents/agent.ts', type: true, lazy: false })
    expect(own.some(({ to, lazy }) => lazy && to.startsWith('cli/commands/'))).toBe(true)
    expect(own.length).toBeGreaterThan(200)
  })

  it('no room reaches itself through others', () => {
    const edges = new Map<string, Set<string>>()
    for (const { from, to } of own) {
      if (roomOf(from) !== roomOf(to)) edges.set(roomOf(from), (edges.get(roomOf(from)) ?? new Set()).add(roomOf(to)))
    }
    expect(cycleIn(edges)).toBeNull()
  })

  it('no file reaches itself through what it loads', () => {
    const edges = new Map<string, Set<string>>()
    for (const { from, to, type, lazy } of own) if (!type && !lazy) edges.set(from, (edges.get(from) ?? new Set()).add(to))
    expect(cycleIn(edges)).toBeNull()
  })

  it('the engine and the server know agents only by their interface', () => {
    const inner = own.filter(
      ({ from, to }) =>
        /^(engine|server)\//.test(from) && to.startsWith('agents/') && !/^agents\/(agent|transcript-reader)\.ts$/.test(to),
    )
    expect(inner).toEqual([])
  })

  it('nothing that ships imports what is for tests', () => {
    const wrong = imports.filter(
      ({ to }) => (files.includes(to) && isForTests(to)) || to === 'vitest' || to.startsWith('../test'),
    )
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('packages stay where they are allowed', () => {
    const packages = imports.filter(({ to }) => !files.includes(to) && !to.startsWith('node:') && !to.startsWith('.'))
    const wrong = packages.filter(
      ({ from, to }) => !PACKAGES[to]?.some((place) => from === place || from.startsWith(`${place}/`)),
    )
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('the Agent SDK is named where it is looked for, and loaded by nobody at start', () => {
    const named = sources.filter((file) => /['"]@anthropic-ai\/claude-agent-sdk['"]/.test(text(file)))
    expect(named.filter((file) => !/^jobs\/runtimes\/sdk/.test(file))).toEqual([])
    expect(named).not.toEqual([])
  })
})

describe('judgement is pure', () => {
  const CLOCKS = /\bDate\.now\b|new Date\(\)|\bperformance\.now\b|Math\.random|\bsetTimeout\b|\bsetInterval\b/

  it('tracker, policy and facts use no builtin, no clock, no environment', () => {
    const pure = sources.filter((file) => /^(contract|tracker|policy|facts)\//.test(file))
    expect(pure.length).toBeGreaterThan(10)
    expect(pure.filter((file) => importsOf(file).some(({ to }) => to.startsWith('node:')))).toEqual([])
    expect(pure.filter((file) => CLOCKS.test(text(file)) || /\bprocess\.(env|argv|pid)|\bconsole\./.test(text(file)))).toEqual([])
  })

  it('the engine is given its clock, its ids and its files', () => {
    const engine = sources.filter((file) => file.startsWith('engine/'))
    expect(engine.filter((file) => CLOCKS.test(text(file)))).toEqual([])
    expect(engine.filter((file) => importsOf(file).some(({ to }) => to.startsWith('node:')))).toEqual([])
  })

  it('only commands print; the rest tells those who called', () => {
    const loud = sources.filter((file) => !file.startsWith('cli/') && /\bconsole\.(log|error|warn|info)\b/.test(text(file)))
    expect(loud).toEqual([])
  })
})

describe('an agent’s own words', () => {
  const WORDS = [
    ...['hook_event_name', 'hookSpecificOutput', 'hookEventName', 'additionalContext', 'systemMessage'],
    ...['cache_read_input_tokens', 'cache_creation_input_tokens', 'current_usage', 'isSidechain', 'isApiErrorMessage'],
    ...['compact_boundary', 'compactMetadata', 'compact_summary', 'agent_transcript_path', 'tool_use_id', 'PostToolBatch'],
  ]
  /**
   * Its folder, the model that plays its API, what writes its settings, what runs it, the library, whose callers hold its usage objects, and
   * the payloads of a job's hooks, which name their event as the agent's own do.
   */
  const HOMES = [
    ...[/^agents\//, /^model\//, /^install\/(.*\/)?claude-code-/, /^library\/answer-usage\.ts$/, /^cli\/demo\//],
    ...[/^jobs\/runtimes\//, /^jobs\/hooks\/(payloads|chat-text)\.ts$/],
  ]

  it('appear only where its format is known', () => {
    const elsewhere = sources.filter((file) => !HOMES.some((home) => home.test(file)))
    const found = elsewhere.flatMap((file) => WORDS.filter((word) => text(file).includes(word)).map((word) => `${file}: ${word}`))
    expect(found).toEqual([])
  })

  it('do appear there, so that this test can see them', () => {
    const known = sources.filter((file) => HOMES.some((home) => home.test(file))).map(text)
    expect(WORDS.filter((word) => !known.some((source) => source.includes(word)))).toEqual([])
  })
})

describe('files', () => {
  it('have at most 400 lines', () => {
    const long = files.filter((file) => text(file).split('\n').length > 401)
    expect(long).toEqual([])
  })

  it('have names in kebab-case that say what they do', () => {
    const names = files.map((file) => file.split('/').at(-1)!)
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|cases))?\.ts$/.test(name))).toEqual([])
    expect(files.filter((file) => /(^|[/-])(utils?|helpers?|manager|service|core|common|misc)([.-]|\/|$)/.test(file))).toEqual([])
  })

  it('do not merely pass on what others export, but for the library’s door and a bundle’s', () => {
    const barrels = sources.filter((file) =>
      text(file)
        .split('\n')
        .every((line) => line.trim() === '' || /^\s*(export (type )?(\*|\{)|\/\/|\/\*|\*)/.test(line)),
    )
    expect(barrels.sort()).toEqual(['hook/config-main.ts', 'index.ts'])
  })
})

describe('what a hook starts', () => {
  const reached = (entry: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(entry)) return seen
    seen.add(entry)
    for (const { to, type } of files.includes(entry) ? importsOf(entry) : []) if (!type) reached(to, seen)
    return seen
  }

  it('brings no YAML, schema or server library', () => {
    const all = [...reached('hook/engine-main.ts')]
    expect(all.filter((name) => !files.includes(name) && !name.startsWith('node:'))).toEqual([])
    expect(all).toContain('engine/take-signal.ts')
    expect(all).not.toContain('config/load-config.ts')
    expect([...reached('hook/config-main.ts')]).toEqual(expect.arrayContaining(['yaml', 'valibot']))
  })

  it.skipIf(!existsSync(join(ROOT, 'dist', 'hook-engine.cjs')))('is built without them', () => {
    const built = (name: string) => readFileSync(join(ROOT, 'dist', name), 'utf8')
    const holds = (name: string) => ['YAMLParseError', '~standard'].filter((mark) => built(name).includes(mark))
    expect(holds('hook-config.cjs')).toHaveLength(2)
    expect(holds('hook-engine-body.cjs')).toEqual([])
    // Every hook that runs without a server loads it: what is needed only around compactions and handoffs belongs into hook-keep.cjs.
    expect(built('hook-engine-body.cjs').length).toBeLessThan(built('hook-config.cjs').length)
  })
})

/** The first circle found, as the names on it; null: there is none. */
function cycleIn(edges: Map<string, Set<string>>): string[] | null {
  const done = new Set<string>()
  const walk = (node: string, path: string[]): string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return null
    for (const next of edges.get(node) ?? []) {
      const found = walk(next, [...path, node])
      if (found) return found
    }
    done.add(node)
    return null
  }
  for (const node of edges.keys()) {
    const found = walk(node, [])
    if (found) return found
  }
  return null
}
