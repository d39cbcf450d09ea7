import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { textImports } from '../scripts/text-imports.mjs'
import { temporary } from './machine.mjs'

const root = new URL('..', import.meta.url).pathname

/** Bundles the rooms a measurement calls directly; returns the file, which exports them all. */
export async function bundleSource(files) {
  const dir = temporary('source')
  const entry = join(dir, 'entry.ts')
  writeFileSync(entry, files.map((file) => `export * from ${JSON.stringify(join(root, 'src', file))}\n`).join(''))
  const outfile = join(dir, 'rooms.mjs')
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
    // The bundle lies outside the repository: what stays outside it is found from here.
    banner: {
      js: `import { createRequire as __r } from 'node:module'; const require = __r(${JSON.stringify(createRequire(import.meta.url).resolve('esbuild'))});`,
    },
    external: ['@anthropic-ai/claude-agent-sdk'],
    nodePaths: [join(root, 'node_modules')],
    plugins: [textImports, outside('@photostructure/sqlite')],
  })
  return outfile
}

/** A package with native code is loaded from where it is installed. */
function outside(name) {
  const path = createRequire(import.meta.url).resolve(name)
  return {
    name: 'outside',
    setup: (b) => b.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path, external: true })),
  }
}
