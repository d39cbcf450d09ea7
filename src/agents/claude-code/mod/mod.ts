import program from './register.js?bundle'

export interface ModFile {
  /** Relative to the mod's folder. */
  path: string
  text: string
}

/** The folder's name below `skills/` in Claude Code's own folder, where the client loads it without asking. */
export const MOD_NAME = 'baton'

/**
 * The plugin that reports a session's figures and compactions from inside the client into `liveDir`, and carries out the orders that
 * lie there. `requestPrompt`: what the agent is told when the user types /handoff; left out: nothing, the request only lies there.
 * `briefSkill`: what teaches it to write a brief; the client calls it by the plugin's name, `baton:brief`, so it stands in nobody's way.
 */
export function modFiles(options: {
  liveDir: string
  version?: string
  requestPrompt?: string
  briefSkill?: string
}): ModFile[] {
  const manifest = {
    name: MOD_NAME,
    version: options.version ?? '0.0.0',
    description: 'Reports how full the session is and hands the work to a fresh one when Baton says so',
    author: { name: 'Baton' },
    license: 'MIT',
  }
  return [
    { path: '.claude-plugin/plugin.json', text: json(manifest) },
    { path: 'hooks/hooks.json', text: json({ modules: ['./register.js'] }) },
    { path: 'hooks/register.js', text: fillIn({ LIVE: options.liveDir, REQUEST: options.requestPrompt ?? '' }) },
    ...(options.briefSkill ? [{ path: 'skills/brief/SKILL.md', text: options.briefSkill }] : []),
    { path: 'README.md', text: README },
  ]
}

/** Replaces the placeholders of `settings.js`. */
function fillIn(values: Record<string, string>): string {
  return program.replace(/"@([A-Z]+)@"/g, (_, name: string) => JSON.stringify(values[name]))
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

const README = `# Baton's mod for Claude Code

Written by \`baton install\`, removed by \`baton uninstall\`. Inside the client it reads the session's context usage, window and
compaction point and writes them to one small file per session in Baton's own folder, and the summary of the last compaction to
another. In a terminal it also carries out the orders Baton leaves beside them, when the client is idle: clear the session and begin
the next one with the brief, or give a prompt; and it offers \`/handoff\`, unless there is a command of that name. A skill, \`baton:brief\`, tells the agent what a good brief is. It sends nothing
anywhere. No turn waits for it; a compaction waits until the summary is written, some milliseconds and never a second. Without it
Baton still works, with a compaction point that is derived, not told, and a handoff that is carried out another way.
`
