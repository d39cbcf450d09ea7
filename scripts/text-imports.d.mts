import type { Plugin } from 'esbuild'

export const textImports: Plugin
export const textImportsForVite: { name: string; enforce: 'pre'; load(id: string): Promise<string | null> }
