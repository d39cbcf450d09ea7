import program from './register.js?bundle'

export interface ModFile {
  /** Path of the file, relative to the plugin module's folder. */
  path: string
  text: string
}

/** Folder below `skills/` in Claude Code's own folder, which the client loads without asking. */
export const PLUGIN_NAME = 'baton'

/**
 * Returns the files of Baton's plugin for the client.
 * The plugin reports a session's figures and compactions into `liveDir`.
 * The plugin also executes the orders stored there.
 * `requestPrompt` is the agent's prompt after /handoff. Without it the request is only stored.
 * `briefSkill` teaches the agent to write a brief.
 * The client calls that skill `baton:brief`, so its name conflicts with no other skill.
 */
export function pluginModuleFiles(options: {
  liveDir: string
  version?: string
  requestPrompt?: string
  briefSkill?: string
}): ModFile[] {
  const manifest = {
    name: PLUGIN_NAME,
    version: options.version ?? '0.0.0',
    description: 'Reports how full the session is and hands its work over to a fresh session',
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

const README = `# Baton's plugin module for Claude Code

\`baton install\` writes this folder, and \`baton uninstall\` removes it.

- The module runs inside the client. It writes the session's context usage, window and compaction point to one small
  file per session in Baton's own folder, and the summary of the last compaction to another.
- In a terminal it executes Baton's orders when the client is idle: clear the session and start a fresh one with the
  brief, or enter a prompt.
- It offers \`/handoff\`, unless another command has that name.
- The skill \`baton:brief\` tells the agent what a good brief is.

It sends nothing anywhere. No turn waits for it. A compaction waits until its summary is stored: milliseconds, and
never a second. Without the module Baton derives the compaction point and carries handoffs out in another way.
`
