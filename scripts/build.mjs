// Bundles everything that starts often, beside the old build, and then puts it in its place: hooks may be running.
// The hook's bundle is CommonJS: Node starts it 5 ms faster than an ES module.
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

// node-gyp-build searches folders at run time; the bundle knows where the prebuilt file is.
const prebuilt = {
  name: 'prebuilt-sqlite',
  setup(b) {
    b.onResolve({ filter: /^node-gyp-build$/ }, () => ({ path: `${root}src/store/sqlite/prebuilt.cjs` }))
  },
}

/**
 * The migrations of the store are a file of their own, loaded once per version: every run of the hook would parse their
 * 8 kB otherwise. How many there are is part of the hook's bundle, and no more are run: the
 * file may be of a newer build by the time it is loaded.
 */
const laterMigrations = (file) => ({
  name: 'later-migrations',
  setup(b) {
    b.onResolve({ filter: /^\.\/migrations\.js$/ }, () => ({ path: file, namespace: 'later-migrations' }))
    b.onLoad({ filter: /./, namespace: 'later-migrations' }, () => {
      const { MIGRATIONS, MILESTONES } = createRequire(import.meta.url)(file)
      const load = `require('./${basename(file)}').MIGRATIONS`
      return {
        contents: `export const MILESTONES = ${JSON.stringify(MILESTONES)}
          export const MIGRATIONS = { length: ${MIGRATIONS.length}, slice: (from) => ${load}.slice(from, ${MIGRATIONS.length}) }`,
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
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  })
  // Tests build too, and what runs them says otherwise: the page would be React's development build, twice the size.
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

/** Beside each file of the page the same compressed: the server sends what the browser takes, and compresses nothing itself. */
function compress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const bytes = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
