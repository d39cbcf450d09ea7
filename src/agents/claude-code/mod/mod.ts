import { registerSource } from './register-source.js'

export interface ModFile {
  /** Relative to the mod's folder. */
  path: string
  text: string
}

/** The folder's name below `skills/` in Claude Code's own folder, where the client loads it without asking. */
export const MOD_NAME = 'baton'

/** The plugin that reports a session's figures and compactions from inside the client into `liveDir`. */
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
compaction point and writes them to one small file per session in Baton's own folder, and the summary of the last compaction to
another. It sends nothing anywhere and changes nothing in the session. No turn waits for it; a compaction waits until the summary is
written, some milliseconds and never a second. Without it Baton still works, with a compaction point that is derived, not told.
`
