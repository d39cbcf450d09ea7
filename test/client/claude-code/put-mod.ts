import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PLUGIN_NAME, pluginModuleFiles } from '../../../src/agents/claude-code/mod/mod.js'
import type { Home } from '../../harness/home.js'

/** Installs the plugin module where the client loads it. Returns the folder of its live reports. */
export function putMod(home: Home): string {
  const liveDir = path.join(home.batonHome, 'live')
  const folder = path.join(home.configDir, 'skills', PLUGIN_NAME)
  for (const file of pluginModuleFiles({ liveDir })) {
    const at = path.join(folder, file.path)
    mkdirSync(path.dirname(at), { recursive: true })
    writeFileSync(at, file.text)
  }
  return liveDir
}
