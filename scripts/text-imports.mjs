// Lets a module import another file as text: `launcher.sh?raw` as it is, `register.js?bundle` as
// one ES module together with everything it imports.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { build } from 'esbuild'

const IMPORT = /^(.*)\?(raw|bundle)$/

/** Plugin for esbuild. Every build whose modules may import a file as text needs it. */
export const textImports = {
  name: 'text-imports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: IMPORT }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path),
      namespace: 'text-imports',
    }))
    onLoad({ filter: IMPORT, namespace: 'text-imports' }, async ({ path }) => ({
      contents: await textOf(path),
      loader: 'text',
    }))
  },
}

/** Plugin for Vite, which runs the tests. Vite itself supports `?raw`. */
export const textImportsForVite = {
  name: 'text-imports',
  enforce: 'pre',
  async load(id) {
    return id.endsWith('?bundle') ? `export default ${JSON.stringify(await textOf(id))}` : null
  },
}

async function textOf(path) {
  const [, file, form] = IMPORT.exec(path)
  if (form === 'raw') return readFileSync(file, 'utf8')
  const bundled = await build({
    entryPoints: [file],
    absWorkingDir: dirname(file),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  })
  return bundled.outputFiles[0].text
}
