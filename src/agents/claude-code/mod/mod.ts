import { registerSource } from './register-source.js'

export interface ModFile {
  /** Relative to the mod's folder. */
  path: string
  text: string
}

/** The folder's name below `skills/` in Claude Code's own folder, where the client loads it without asking. */
export const MOD_NAME = 'baton'

/** The plugin that reports a session's figures from inside the client into `liveDir`. */
export function modFiles(options: { liveDir: string; version?: string }): ModFile[] {
  const manifest = {
    name: MOD_NAME,
    version: options.version ?? '0.0.0',
    description: 'Reports how full the session is, so that Baton can warn before it compacts',
    author: { name: 'Baton' },
    license: 'MIT',
  }
  return [
    { path: '.claude-plugin/plugin.json', text: json(manifest) },
    { path: 'hooks/hooks.json', text: json({ modules: ['./register.js'] }) },
    { path: 'hooks/register.js', text: registerSource(options.liveDir) },
    { path: 'README.md', text: README },
  ]
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

const README = `# Baton's mod for Claude Code

Written by \`baton install\`, removed by \`baton uninstall\`. Inside the client it reads the session's context usage, window and
compaction point and writes them to one small file per session in Baton's own folder. It sends nothing anywhere, changes nothing
in the session, and no turn waits for it. Without it Baton still works, with a compaction point that is derived instead of told.
`
