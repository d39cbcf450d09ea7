import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { textImports } from '../scripts/text-imports.mjs'
import { temporary } from './machine.mjs'

const root = new URL('..', import.meta.url).pathname

/**
 * Bundles the modules that a measurement calls directly. Returns the path of the bundle, which
 * exports all of them.
 */
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
    // The bundle is written outside the repository, so external packages are resolved from here.
    banner: {
      js:
        `import { createRequire as __r } from 'node:module'; const require = ` +
        `__r(${JSON.stringify(createRequire(import.meta.url).resolve('esbuild'))});`,
    },
    external: ['@anthropic-ai/claude-agent-sdk'],
    nodePaths: [join(root, 'node_modules')],
    plugins: [textImports, outside('@photostructure/sqlite')],
  })
  return outfile
}

/** Loads a package with native code from the folder where it is installed. */
function outside(name) {
  const path = createRequire(import.meta.url).resolve(name)
  return {
    name: 'outside',
    setup: (b) => b.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path, external: true })),
  }
}
