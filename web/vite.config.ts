import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { ROUTES } from '../src/contract/api/routes.js'

const routePaths = Object.entries(ROUTES).map(([name, { method, path }]) => [name, `${method} ${path}`])

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/',
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    // The content security policy allows no inline scripts and no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    emptyOutDir: true,
  },
  esbuild: { legalComments: 'none' },
  worker: { format: 'es' },
  // For the page's client: web/src/api/call-api.ts.
  define: { ROUTE_PATHS: JSON.stringify(Object.fromEntries(routePaths)) },
})
