import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AGENT_IDS } from './contract/agent-ids.js'
import { LAYERS, ROOT } from './testing/source-files.js'

const SRC = import.meta.dirname

/**
 * A module imports only from lower layers, or from modules of its own layer that are listed here.
 * Type imports count.
 */
const WITHIN_LAYER: Record<string, string[]> = {
  lib: ['contract'],
  compaction: ['facts'],
  archive: ['store'],
  briefs: ['store'],
  doctor: ['app', 'install'],
  demo: ['app', 'install', 'doctor', 'model'],
  proof: ['app', 'install', 'doctor', 'model', 'demo'],
  cli: ['server'],
  'index.ts': ['library'],
}
/** The highest layer that the hook may import, because every hook call pays for loading it. */
const HIGHEST_FOR_HOOK = 4

/**
 * The places where each package may be imported.
 * The store's driver loads `@photostructure/sqlite` by name.
 */
const PACKAGES: Record<string, string[]> = {
  yaml: ['lib/yaml-file.ts'],
  valibot: ['contract/api', 'config', 'model', 'install', 'server'],
  '@valibot/to-json-schema': ['server'],
  hono: ['server'],
  'hono/body-limit': ['server'],
  '@hono/node-server': ['server'],
}

interface Import {
  from: string
  /** A path below src, or the name of a package or builtin. */
  to: string
  /** True for a type import, which is erased at build time. */
  type: boolean
  /** True for a dynamic import, which is loaded only when needed. */
  lazy: boolean
}

const files = (readdirSync(SRC, { recursive: true }) as string[])
  .filter((name) => name.endsWith('.ts'))
  .map((name) => normalize(name))
/** True for tests and for modules that only tests use. */
const isForTests = (file: string): boolean => /\.(test|cases)\.ts$|(^|\/)fixtures\/|^testing\//.test(file)
const sources = files.filter((file) => !isForTests(file))
const text = (file: string): string => readFileSync(join(SRC, file), 'utf8')
const moduleOf = (file: string): string => file.split('/', 1)[0]!
const layerOf = (name: string): number => LAYERS.findIndex((layer) => layer.includes(name)) + 1

function importsOf(file: string): Import[] {
  const found = text(file).matchAll(
    /^(?:import|export) (type )?[^'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...found].map(([, type, from, bare, lazy]) => {
    const name = (from ?? bare ?? lazy)!
    const to = name.startsWith('.') ? relative(SRC, join(SRC, dirname(file), name.replace(/\.js$/, '.ts'))) : name
    return { from: file, to, type: type !== undefined, lazy: lazy !== undefined }
  })
}

const imports = sources.flatMap(importsOf)
const own = imports.filter(({ to }) => files.includes(to))

describe('imports between modules', () => {
  test('every module belongs to a layer, and ARCHITECTURE.md shows the same layers', () => {
    const modules = [...new Set(sources.map(moduleOf))].sort()
    expect(LAYERS.flat().sort()).toEqual(modules)
    const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    const rows = [...page.matchAll(/^\| (\d) \| (.+?) \|/gm)]
    const shown = rows.map(([, , names]) =>
      [...names!.matchAll(/`([\w.-]+?)\/?`(?! inside)/g)].map(([, name]) => name!),
    )
    expect(shown.map((names) => names.sort())).toEqual(LAYERS.map((names) => [...names].sort()))
  })

  test('every file that ARCHITECTURE.md names exists', () => {
    const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    const named = [...page.matchAll(/`(src\/[\w./-]+)`/g)].map(([, path]) => path!)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test('a module imports only from lower layers', () => {
    const isAllowed = (from: string, to: string): boolean => {
      if (from === to || WITHIN_LAYER[from]?.includes(to)) return true
      return layerOf(to) < layerOf(from) && (from !== 'hook' || layerOf(to) <= HIGHEST_FOR_HOOK)
    }
    const wrong = own.filter(({ from, to }) => !isAllowed(moduleOf(from), moduleOf(to)))
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  test('the import scan finds static, dynamic and type imports', () => {
    expect(own).toContainEqual({
      from: 'engine/signals/measure.ts',
      to: 'tracker/tracker.ts',
      type: false,
      lazy: false,
    })
    expect(own).toContainEqual({ from: 'engine/context.ts', to: 'agents/agent.ts', type: true, lazy: false })
    expect(own.some(({ to, lazy }) => lazy && to.startsWith('cli/commands/'))).toBe(true)
    expect(own.length).toBeGreaterThan(200)
  })

  test('no files import each other in a cycle, with type imports included', () => {
    const edges = new Map(sources.map((file) => [file, new Set<string>()]))
    // Dynamic imports are left out:
    // the list of commands reaches help by one, and help lists the commands.
    for (const { from, to, lazy } of own) if (!lazy) edges.get(from)!.add(to)
    expect(circlesIn(edges)).toEqual([])
  })

  test('the engine’s subjects and the server import agents only through their interface', () => {
    const inner = own.filter(
      ({ from, to }) =>
        /^(engine\/\w+|server)\//.test(from) &&
        to.startsWith('agents/') &&
        !/^agents\/(agent|transcript-reader)\.ts$/.test(to),
    )
    expect(inner).toEqual([])
  })

  test('production code imports no test code', () => {
    const wrong = imports.filter(
      ({ to }) => (files.includes(to) && isForTests(to)) || to === 'vitest' || to.startsWith('../test'),
    )
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  test('each package is imported only where it is allowed', () => {
    const isFile = (to: string): boolean => files.includes(to) || /^\.|\?(raw|bundle)$/.test(to)
    const packages = imports.filter(({ to }) => !isFile(to) && !to.startsWith('node:'))
    const wrong = packages.filter(
      ({ from, to }) => !PACKAGES[to]?.some((place) => from === place || from.startsWith(`${place}/`)),
    )
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  test('the Agent SDK is named only where it is located, and never imported at start', () => {
    const named = sources.filter((file) => /['"]@anthropic-ai\/claude-agent-sdk['"]/.test(text(file)))
    expect(named.filter((file) => !/^agents\/claude-code\/runtime\/sdk/.test(file))).toEqual([])
    expect(named).not.toEqual([])
  })
})

describe('purity of the decision code', () => {
  const CLOCKS = /\bDate\.now\b|new Date\(\)|\bperformance\.now\b|Math\.random|\bsetTimeout\b|\bsetInterval\b/

  test('tracker, policy and facts use no builtin, clock or environment variable', () => {
    const pure = sources.filter((file) => /^(contract|tracker|policy|facts)\//.test(file))
    expect(pure.length).toBeGreaterThan(10)
    expect(pure.filter((file) => importsOf(file).some(({ to }) => to.startsWith('node:')))).toEqual([])
    expect(
      pure.filter((file) => CLOCKS.test(text(file)) || /\bprocess\.(env|argv|pid)|\bconsole\./.test(text(file))),
    ).toEqual([])
  })

  test('every subject of the engine receives its clock, ids and files from its caller', () => {
    const subjects = sources.filter((file) => /^engine\/\w+\//.test(file))
    expect(subjects.length).toBeGreaterThan(50)
    expect(subjects.filter((file) => CLOCKS.test(text(file)))).toEqual([])
    expect(subjects.filter((file) => importsOf(file).some(({ to }) => to.startsWith('node:')))).toEqual([])
  })

  test('only commands print to the console', () => {
    const loud = sources.filter(
      (file) => !file.startsWith('cli/') && /\bconsole\.(log|error|warn|info)\b/.test(text(file)),
    )
    expect(loud).toEqual([])
  })
})

describe('files that a signal, a repository or a project names', () => {
  const OPENS =
    /\b(openSync|readFileSync|readdirSync|opendirSync|createReadStream|copyFileSync|cpSync)\b|'node:fs\/promises'/
  const MAY_MEET_THEM = /^(agents|archive|briefs|config|engine|facts|history|lib)\/|^app\/(open-jobs|archives)\.ts$/

  /** Files that open files themselves, with the reason. All others use `lib/named-file.ts`. */
  const OPEN_THEMSELVES: Record<string, string> = {
    'lib/named-file.ts': 'opens named files for everybody',
    'lib/announced-server.ts': "reads the announcement of Baton's own server",
    'lib/atomic-file.ts': 'writes its own temporary files, lists their folder and syncs it',
    'lib/fault-point.ts': 'waits on the FIFO of a test, which only the environment names',
    'lib/growing-file.ts': "reads Baton's own notes about a transcript",
    'lib/machine-key.ts': "reads Baton's own key",
    'lib/marked-processes.ts': 'reads /proc/<pid>, which never blocks',
    'lib/process-info.ts': 'reads /proc/<pid>, which never blocks',
    'lib/process-place.ts': 'reads /proc/<pid>, which never blocks',
    'lib/process-terminal.ts': 'reads /proc/<pid>, which never blocks',
    'agents/claude-code/orders.ts': "lists Baton's own folder of live reports",
    'agents/claude-code/waiter.ts': 'opens a pipe that Baton made in its own folder, without waiting',
    'archive/blocks.ts': "reads Baton's own archives",
    'archive/find-unknown.ts': "lists Baton's own archives",
    'archive/finish-archives.ts': "lists Baton's own archives",
    'archive/record-file.ts': "reads Baton's own archives",
    'archive/restore-archive.ts': 'writes a new file',
    'archive/search/open-index.ts': "creates Baton's own search index",
    'archive/temporary-files.ts': "lists Baton's own archives",
    'archive/verify-archives.ts': "lists Baton's own archives",
    'archive/write-segment.ts': 'writes a new file',
    'briefs/forget-briefs.ts': "lists Baton's own briefs",
    'config/compiled-copy.ts': "reads Baton's own copy of the configuration",
  }

  test('files that a signal, a repository or a project names are opened by lib/named-file.ts only', () => {
    const opening = sources.filter((file) => MAY_MEET_THEM.test(file) && OPENS.test(text(file)))
    expect(opening.sort()).toEqual(Object.keys(OPEN_THEMSELVES).sort())
  })
})

describe('folders of agents', () => {
  const folders = [...new Set(files.flatMap((file) => /^agents\/([^/]+)\//.exec(file)?.[1] ?? []))].filter(
    (name) => name !== 'shared',
  )
  const outside = sources.filter((file) => !file.startsWith('agents/'))
  /**
   * Names of clients' hook events.
   * Outside of agents/ a signal has a neutral kind, such as `compact-start`.
   */
  const EVENTS = [
    'SessionStart',
    'SessionEnd',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'PostToolBatch',
    'PermissionRequest',
    'Notification',
    'PreCompact',
    'PostCompact',
    'SubagentStart',
    'SubagentStop',
    'Stop',
    'StopFailure',
  ]
  const LITERAL = new RegExp(`(['"\`])(?:${EVENTS.join('|')})\\1`)
  const VARIABLE = /\b(?:CLAUDECODE|CLAUDE_[A-Z_]+|CODEX_[A-Z_]+)\b/
  const code = (file: string): string => text(file).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*/gm, '')

  test('every folder in agents/ is a registered agent, and every registered agent has a folder', () => {
    expect(folders.sort()).toEqual([...AGENT_IDS].sort())
  })

  test('no module outside of agents/ imports an agent’s folder', () => {
    const wrong = own.filter(
      ({ from, to }) => !from.startsWith('agents/') && folders.some((name) => to.startsWith(`agents/${name}/`)),
    )
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  test('only the registries import the folders of agents, each of them once', () => {
    const registries = own.filter(
      ({ from, to }) => /^agents\/[^/]+$/.test(from) && folders.some((name) => to.startsWith(`agents/${name}/`)),
    )
    expect([...new Set(registries.map(({ from }) => from))].sort()).toEqual([
      'agents/clients.ts',
      'agents/index.ts',
      'agents/installers.ts',
      'agents/readers.ts',
      'agents/runtimes.ts',
    ])
    expect(registries).toHaveLength(5 * folders.length)
  })

  test('no module outside of agents/ names an agent', () => {
    // Ids and their first words, so that a comparison of prefixes is found too.
    const names = AGENT_IDS.flatMap((id) => [id, id.split('-', 1)[0]!])
    const named = new RegExp(`(['"\`])(?:${names.join('|')})-?\\1`)
    expect(outside.filter((file) => named.test(code(file)))).toEqual(['contract/agent-ids.ts'])
  })

  test('no module outside of agents/ names a client’s hook event or environment variable', () => {
    expect(outside.filter((file) => LITERAL.test(code(file)) || VARIABLE.test(code(file)))).toEqual([])
    const known = sources.filter((file) => file.startsWith('agents/')).map(code)
    expect(known.some((source) => LITERAL.test(source)) && known.some((source) => VARIABLE.test(source))).toBe(true)
  })

  test('no agent imports another agent', () => {
    const wrong = own.filter(({ from, to }) => {
      const [agent, other] = [from, to].map((file) => /^agents\/([^/]+)\//.exec(file)?.[1] ?? 'shared')
      return agent !== other && other !== 'shared' && folders.includes(agent!)
    })
    expect(wrong).toEqual([])
  })
})

describe('field names of clients’ formats', () => {
  const WORDS = [
    'hook_event_name',
    'hookSpecificOutput',
    'hookEventName',
    'additionalContext',
    'systemMessage',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'current_usage',
    'isSidechain',
    'isApiErrorMessage',
    'compact_boundary',
    'compactMetadata',
    'compact_summary',
    'agent_transcript_path',
    'tool_use_id',
    'PostToolBatch',
  ]
  /**
   * Modules that may use these names: agents, the scripted model that implements their API,
   * and the payloads of job hooks, which name their event like the clients do.
   */
  const HOMES = [/^agents\//, /^model\//, /^jobs\/hooks\//, /^contract\/hook-payloads\.ts$/]

  test('field names of a client’s format appear only in modules that know the format', () => {
    const elsewhere = sources.filter((file) => !HOMES.some((home) => home.test(file)))
    const found = elsewhere.flatMap((file) =>
      WORDS.filter((word) => text(file).includes(word)).map((word) => `${file}: ${word}`),
    )
    expect(found).toEqual([])
  })

  test('every listed field name of a client’s format is used by a module that knows the format', () => {
    const known = sources.filter((file) => HOMES.some((home) => home.test(file))).map(text)
    expect(WORDS.filter((word) => !known.some((source) => source.includes(word)))).toEqual([])
  })
})

describe('source files', () => {
  test('source files have at most 450 lines', () => {
    const long = files.filter((file) => text(file).split('\n').length > 451)
    expect(long).toEqual([])
  })

  test('source files have kebab-case names that describe their content', () => {
    const names = files.map((file) => file.split('/').at(-1)!)
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.process)?(\.(test|cases))?\.ts$/.test(name))).toEqual([])
    expect(
      files.filter((file) => /(^|[/-])(utils?|helpers?|manager|service|core|common|misc)([.-]|\/|$)/.test(file)),
    ).toEqual([])
  })

  test('no source file only re-exports others, except the library’s index and one bundle entry', () => {
    const barrels = sources.filter((file) =>
      text(file)
        .split('\n')
        .every((line) => line.trim() === '' || /^\s*(export (type )?(\*|\{)|\/\/|\/\*|\*)/.test(line)),
    )
    expect(barrels.sort()).toEqual(['hook/config-main.ts', 'index.ts'])
  })
})

describe('the hook engine', () => {
  /**
   * Size limit of the hook engine in bytes; 180 kB today.
   * The compiled code is cached beside it, so size matters less than imports.
   * A status line without a server took 1.78 times the CPU time of `node -e 0` with 173 kB,
   * and 1.76 times with 184 kB.
   */
  const LARGEST_ENGINE = 185_000

  const reached = (entry: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(entry)) return seen
    seen.add(entry)
    for (const { to, type } of files.includes(entry) ? importsOf(entry) : []) if (!type) reached(to, seen)
    return seen
  }

  test('the hook engine imports no YAML, schema or server library', () => {
    const all = [...reached('hook/engine-main.ts')]
    expect(all.filter((name) => !files.includes(name) && !name.startsWith('node:'))).toEqual([])
    expect(all).toContain('engine/signals/take-signal.ts')
    expect(all).not.toContain('config/load-config.ts')
    expect([...reached('hook/config-main.ts')]).toEqual(expect.arrayContaining(['yaml', 'valibot']))
  })

  test.skipIf(!existsSync(join(ROOT, 'dist', 'hook-engine.cjs')))(
    'the built hook engine contains no YAML or schema library',
    () => {
      const built = (name: string) => readFileSync(join(ROOT, 'dist', name), 'utf8')
      const holds = (name: string) => ['YAMLParseError', '~standard'].filter((mark) => built(name).includes(mark))
      expect(holds('hook-config.cjs')).toHaveLength(2)
      expect(holds('hook-engine-body.cjs')).toEqual([])
      // Every hook without a server loads this file.
      // Code used only around compactions and handoffs belongs in hook-keep.cjs.
      expect(built('hook-engine-body.cjs').length).toBeLessThan(LARGEST_ENGINE)
    },
  )
})

/**
 * Returns groups of files that import each other:
 * strongly connected components, by Tarjan's algorithm.
 */
function circlesIn(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const circles: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const visit = (node: string): void => {
    order.set(node, order.size)
    lowest.set(node, order.get(node)!)
    open.push(node)
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) visit(next)
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!))
    }
    if (lowest.get(node) !== order.get(node)) return
    const circle = open.splice(open.indexOf(node))
    if (circle.length > 1 || edges.get(node)?.has(node)) circles.push(circle.sort())
  }
  for (const node of edges.keys()) if (!order.has(node)) visit(node)
  return circles
}
