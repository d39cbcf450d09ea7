import { existsSync, readdirSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { readIfThere, realTarget } from '../../lib/atomic-file.js'
import { projectSettings } from '../claude-code-settings.js'
import type { Patient } from './patient.js'
import { type Target, userSettings } from './targets.js'

/** One settings file the client reads, with what it says; files it can make nothing of are left out. */
export interface Layer {
  path: string
  rank: 'user' | 'project' | 'local' | 'managed'
  values: Record<string, unknown>
}

const MANAGED = platform() === 'darwin' ? '/Library/Application Support/ClaudeCode' : '/etc/claude-code'

/** All files the client merges where a target counts, lowest rank first. */
export function layersOf(patient: Patient, target: Target): Layer[] {
  const project = projectSettings(target.project)
  const files: [Layer['rank'], string][] = [
    ['user', target.scope === 'user' ? target.path : userSettings(patient.env)],
    ['project', project.shared],
    ['local', project.local],
    ...(patient.managed ?? managedFiles(MANAGED)).map((path): [Layer['rank'], string] => ['managed', path]),
  ]
  const seen = new Set<string>()
  return files.flatMap(([rank, path]) => {
    const real = realTarget(path)
    // In the home folder the project's file is the user's own.
    if (seen.has(real)) return []
    seen.add(real)
    const values = valuesIn(path)
    return values ? [{ path, rank, values }] : []
  })
}

/** The file that decides about a key: the highest that has it. */
export function deciding(layers: readonly Layer[], key: string): Layer | undefined {
  return layers.findLast(({ values }) => values[key] !== undefined)
}

function managedFiles(folder: string): string[] {
  const more = join(folder, 'managed-settings.d')
  const parts = existsSync(more) ? readdirSync(more).filter((name) => name.endsWith('.json')) : []
  return [join(folder, 'managed-settings.json'), ...parts.sort().map((name) => join(more, name))]
}

function valuesIn(path: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(
      readIfThere(path)
        ?.toString()
        .replace(/^\uFEFF/, '') ?? 'null',
    )
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
