import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { COMMAND_NAMES, loadCommand } from '../../src/cli/commands.js'
import { parseCall } from '../../src/cli/parse-call.js'
import { removeFolder } from '../../src/lib/remove-folder.js'
import { startTurn } from '../../src/testing/cli-handoffs.js'
import { createTestHome, sendReading } from '../../src/testing/cli-home.js'
import { type Block, docsPages } from '../harness/docs-pages.js'
import { BATON, PREFIX, REPOSITORY } from '../harness/paths.js'

const run = promisify(execFile)
const blocks = docsPages().flatMap((page) => page.blocks)
const cases = (language: string, wanted: (block: Block) => boolean = () => true): [string, Block][] =>
  blocks.filter((block) => block.language === language && wanted(block)).map((block) => [block.place, block])

const SESSION = '5e0c9a52-ef1f-4334-9716-3be98836406b'

/**
 * Creates a home with one session at work in the seat `api`, a child seat, and a brief in a file.
 */
function preparedHome() {
  const fixture = createTestHome()
  startTurn(fixture, SESSION)
  fixture.fill((app) => sendReading(app, { session: SESSION, project: fixture.project, used: 118_600 }))
  // The status line names another transcript than the hooks, so the same text is put there.
  const written = path.join(fixture.user, '.claude', `${SESSION}.jsonl`)
  fixture.put(path.join(fixture.project, '.none', `${SESSION}.jsonl`), readFileSync(written, 'utf8'))
  fixture.put(
    path.join(fixture.project, 'brief.md'),
    '# Handoff brief\n\n## Next exact step\nRun the tests of src/login.ts.\n',
  )
  fixture.put(path.join(fixture.project, 'baton.yaml'), 'levels:\n  - { name: early, at: 40%, actions: [user] }\n')
  const bin = path.join(fixture.dir, 'bin')
  mkdirSync(bin)
  writeFileSync(path.join(bin, 'baton'), `#!/bin/sh\nexec '${process.execPath}' '${BATON}' "$@"\n`, { mode: 0o755 })
  return { ...fixture, env: { ...fixture.env, PATH: `${bin}:${fixture.env.PATH}`, BROWSER: 'true' } }
}

test('every code block names a language that a test checks, or is plain text', () => {
  const known = ['sh', 'yaml', 'json', 'js', 'ts', 'text']
  expect(
    blocks.filter(({ language }) => !known.includes(language)).map(({ place, language }) => `${place} ${language}`),
  ).toEqual([])
})

test('every block that is not run says which test runs it, or why nobody can', () => {
  const reasons = blocks.flatMap(({ place, notRun }) => (notRun === null ? [] : [`${place} ${notRun}`]))
  expect(reasons.filter((reason) => !/ (needs|runs|opens|exits) /.test(reason))).toEqual([])
  const named = reasons.flatMap((reason) => [...reason.matchAll(/\b((?:src|test)\/[\w./-]+\.test\.ts)/g)])
  expect(named.map(([, file]) => file!).filter((file) => !existsSync(path.join(REPOSITORY, file)))).toEqual([])
})

test('no block that is run starts npm or a real client', () => {
  const started = cases('sh', ({ notRun }) => notRun === null).filter(([, { text }]) =>
    /(^|[;&|(])\s*(npm|npx|claude)\s/m.test(text),
  )
  expect(started.map(([place]) => place)).toEqual([])
})

describe('shell blocks', () => {
  test.each(cases('sh', ({ notRun }) => notRun === null))('%s runs in a prepared home', async (_, { text }) => {
    const home = preparedHome()
    const script = `set -eu\n${text}`
    const done = await run('bash', ['-c', script], { cwd: home.project, env: home.env }).catch((error) => error)
    expect({ code: done.code ?? 0, stderr: done.code ? done.stderr : '' }).toEqual({ code: 0, stderr: '' })
  })

  test.each(cases('sh'))('%s uses only commands and options that exist', async (_, { text }) => {
    for (const args of batonCalls(text)) {
      const [name = '', ...rest] = args
      expect(COMMAND_NAMES).toContain(name)
      const command = (await loadCommand(name))!
      const call = parseCall(command, rest)
      const form = call && command.forms?.[call.words[0] ?? '']
      if (!form) continue
      const given = Object.keys(command.options).filter((option) => call.flag(option) || call.value(option) !== null)
      expect({ args, unknown: given.filter((option) => !form.options.includes(option)) }).toEqual({ args, unknown: [] })
    }
  })

  test('the reader of shell blocks finds calls behind variables, pipes, quotes and comments', () => {
    const text =
      'A=1 baton send api "a # b" --mode urgent # note\ngit diff | baton send api -; x && baton status \\\n  --all\n'
    expect(batonCalls(text)).toEqual([
      ['send', 'api', 'a # b', '--mode', 'urgent'],
      ['send', 'api', '-'],
      ['status', '--all'],
    ])
  })
})

test.each(cases('yaml'))('%s passes baton config check', async (_, { text }) => {
  const fixture = createTestHome()
  fixture.putTrusted(text)
  const checked = await fixture.run(['config', 'check', '--json'])
  expect(checked.json.errors).toEqual([])
  expect(checked.code).toBe(0)
})

test.each(cases('json'))('%s is valid JSON', (_, { text }) => {
  expect(() => JSON.parse(text)).not.toThrow()
})

describe('TypeScript blocks', () => {
  const folder = mkdtempSync(path.join(tmpdir(), `${PREFIX}types-`))
  afterAll(() => removeFolder(folder))

  test('every ts block compiles against the types of the package', async () => {
    const found = cases('ts')
    expect(found.length).toBeGreaterThan(0)
    mkdirSync(path.join(folder, 'node_modules'))
    symlinkSync(REPOSITORY, path.join(folder, 'node_modules', 'baton-cli'))
    symlinkSync(path.join(REPOSITORY, 'node_modules', '@types'), path.join(folder, 'node_modules', '@types'))
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
    const options = { strict: true, noEmit: true, module: 'nodenext', target: 'es2023', types: ['node'] }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
    for (const [index, [place, { text }]] of found.entries())
      writeFileSync(path.join(folder, `block-${index + 1}.ts`), `// ${place}\n${text}`)
    const tsc = path.join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc')
    const done = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error)
    expect({ code: done.code ?? 0, stdout: done.stdout }).toEqual({ code: 0, stdout: '' })
  })
})

/** Returns the arguments of every `baton` call in a shell text. */
function batonCalls(text: string): string[][] {
  return commandsOf(text.replaceAll('\\\n', ' ')).flatMap((words) => {
    const start = words.findIndex((word) => !/^[A-Za-z_]+=/.test(word))
    return words[start] === 'baton' ? [words.slice(start + 1)] : []
  })
}

/**
 * Splits a shell text into commands and their words. Understands quotes, comments and separators.
 */
function commandsOf(text: string): string[][] {
  const commands: string[][] = [[]]
  const token = /[^\S\n]*(?:(#[^\n]*)|(\n|&&|\|\||[;|&()])|((?:[^\s'"#;|&()]|(?<=\S)#|'[^']*'|"(?:\\.|[^"\\])*")+))/gy
  for (const [, comment, separator, word] of text.replaceAll('\n', ' \n').matchAll(token)) {
    if (comment !== undefined) commands.push([])
    else if (separator !== undefined) commands.push([])
    else if (word !== undefined) commands.at(-1)!.push(unquoted(word))
  }
  return commands.filter((words) => words.length > 0)
}

const unquoted = (word: string): string =>
  word.replaceAll(/'([^']*)'|"((?:\\.|[^"\\])*)"/g, (_, one, two) => one ?? two)
