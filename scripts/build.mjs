// Bundles every program into a new folder, then swaps it with the old build, because hooks may be
// running. The hook's bundle is CommonJS: Node starts it 5 ms faster than an ES module.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { build as buildPage } from 'vite'
import { textImports } from './text-imports.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const fresh = `dist.${process.pid}`
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  absWorkingDir: root,
  legalComments: 'none',
  outdir: fresh,
}

// Replaces node-gyp-build, which searches folders at run time, by the known path of the prebuilt
// file.
const prebuilt = {
  name: 'prebuilt-sqlite',
  setup(b) {
    b.onResolve({ filter: /^node-gyp-build$/ }, () => ({ path: `${root}src/store/sqlite/prebuilt.cjs` }))
  },
}

/**
 * Bundles the store's migrations as a separate file that is loaded once per version. Otherwise
 * every run of the hook would parse their 8 kB. The hook's bundle contains their number and runs no
 * more than that, because the file may belong to a newer build by the time it is loaded.
 */
const laterMigrations = (file) => ({
  name: 'later-migrations',
  setup(b) {
    b.onResolve({ filter: /^\.\/migrations\.js$/ }, () => ({ path: file, namespace: 'later-migrations' }))
    b.onLoad({ filter: /./, namespace: 'later-migrations' }, () => {
      const { MIGRATIONS, MILESTONES } = createRequire(import.meta.url)(file)
      const load = `require('./${basename(file)}').MIGRATIONS`
      const count = MIGRATIONS.length
      return {
        contents: `export const MILESTONES = ${JSON.stringify(MILESTONES)}
          export const MIGRATIONS = { length: ${count}, slice: (from) => ${load}.slice(from, ${count}) }`,
      }
    })
  },
})

try {
  const migrations = `${root}${fresh}/hook-migrations.cjs`
  const hook = {
    ...common,
    format: 'cjs',
    minify: true,
    plugins: [prebuilt],
    outExtension: { '.js': '.cjs' },
    external: ['./hook-config.cjs', './hook-keep.cjs', './hook-migrations.cjs', '@photostructure/sqlite/package.json'],
  }
  await build({ ...hook, entryPoints: { 'hook-migrations': 'src/store/sqlite/migrations.ts' } })
  await build({
    ...hook,
    plugins: [prebuilt, laterMigrations(migrations)],
    define: { 'import.meta.url': '""' },
    entryPoints: {
      'hook-engine-body': 'src/hook/engine-main.ts',
      'hook-config': 'src/hook/config-main.ts',
      'hook-keep': 'src/workers/keeper.ts',
    },
  })
  const body = readFileSync(`${root}${fresh}/hook-engine-body.cjs`)
  const name = createHash('sha256').update(body).digest('hex').slice(0, 16)
  await build({
    ...hook,
    define: { BATON_BUILD: JSON.stringify(name) },
    entryPoints: { 'hook-engine': 'src/hook/engine-start.ts' },
  })
  await build({
    ...common,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    entryPoints: { baton: 'src/cli/main.ts', index: 'src/index.ts' },
    outExtension: { '.js': '.mjs' },
    external: ['@anthropic-ai/claude-agent-sdk', '@photostructure/sqlite'],
    plugins: [textImports],
    banner: {
      js:
        "import { createRequire as __createRequire } from 'node:module'; const require = " +
        '__createRequire(import.meta.url);',
    },
  })
  // Vitest sets NODE_ENV to test. With it the page would contain React's development build, which
  // is twice the size.
  process.env.NODE_ENV = 'production'
  await buildPage({
    configFile: `${root}web/vite.config.ts`,
    logLevel: 'warn',
    build: { outDir: `${root}${fresh}/web` },
  })
  compress(`${root}${fresh}/web`)
  execFileSync(process.execPath, ['scripts/types.mjs', `${fresh}/types`], { cwd: root, stdio: 'inherit' })
  const old = `${root}dist.${process.pid}.old`
  try {
    renameSync(`${root}dist`, old)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  renameSync(root + fresh, `${root}dist`)
  rmSync(old, { recursive: true, force: true })
} finally {
  rmSync(root + fresh, { recursive: true, force: true })
}

/**
 * Writes a compressed copy beside each file of the page, so that the server compresses nothing
 * itself.
 */
function compress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const bytes = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
