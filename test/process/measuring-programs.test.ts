import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { textImports } from '../../scripts/text-imports.mjs'
import { REPOSITORY } from '../harness/paths.js'

/** Programs that load modules of the source by name. TypeScript does not check them. */
const PROGRAMS = ['bench', 'test/soak'].flatMap((folder) =>
  readdirSync(path.join(REPOSITORY, folder))
    .filter((name) => name.endsWith('.mjs') && name !== 'from-source.mjs')
    .map((name) => path.join(folder, name))
    .filter((file) => readFileSync(path.join(REPOSITORY, file), 'utf8').includes('bundleSource(')),
)

/** The start of an import of the bundled source. Other imports name a program beside this one. */
const IMPORT = String.raw`await import\((?:rooms|file|\s*await bundleSource)`

/** Returns the names that a program takes from the modules it loads. */
function namesUsed(code: string): string[] {
  const objects = [...code.matchAll(new RegExp(`const (\\w+) = ${IMPORT}`, 'g'))].map(([, name]) => name!)
  const sources = [IMPORT, ...objects.map((object) => `${object}\\n`)]
  const destructured = sources.flatMap((source) => [
    ...code.matchAll(new RegExp(`const \\{([^}]+)\\} = ${source}`, 'g')),
  ])
  const members = [...new Set(['rooms', ...objects])].flatMap((object) => [
    ...code.matchAll(new RegExp(`(?<![-.\\w])${object}\\.([a-zA-Z]\\w*)`, 'g')),
  ])
  const names = [...destructured.flatMap(([, list]) => list!.split(',')), ...members.map(([, name]) => name!)]
  return [...new Set(names.map((name) => name.split(':')[0]!.trim()))].filter((name) => name !== '').sort()
}

/** Returns the names that the modules export together. */
async function exportsOf(files: string[]): Promise<string[]> {
  const contents = files.map((file) => `export * from ${JSON.stringify(file)}\n`).join('')
  const { metafile } = await build({
    stdin: { contents, resolveDir: REPOSITORY, loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outfile: 'entry.mjs',
    plugins: [textImports],
    logLevel: 'silent',
  })
  return Object.values(metafile.outputs).flatMap(({ exports }) => exports)
}

test.each(PROGRAMS)('the source exports every name that %s takes from it', async (program) => {
  const code = readFileSync(path.join(REPOSITORY, program), 'utf8')
  const files = [...code.matchAll(/'((?!src\/)(?:\.\.\/)?[\w/-]+\.ts)'/g)].map(([, file]) =>
    path.join(REPOSITORY, 'src', file!),
  )
  expect(files.filter((file) => !existsSync(file))).toEqual([])
  const known = await exportsOf(files)
  expect(namesUsed(code).filter((name) => !known.includes(name))).toEqual([])
})
