import { clientBinary, start } from './machine.mjs'

/** Environment that lets the client contact nothing but the scripted model. */
export const clientEnvironment = (url) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'sk-fake',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  IS_SANDBOX: '1',
})

/** Runs the real client once against the scripted model. Does not throw when the client fails. */
export function runClient(machine, url, { prompt = 'go', model = 'claude-opus-4-6', env = {} } = {}) {
  const client = start(clientBinary(), ['-p', prompt, '--model', model, '--dangerously-skip-permissions'], {
    cwd: machine.project,
    env: { ...machine.env, ...clientEnvironment(url), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  client.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  client.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const timer = setTimeout(() => client.kill('SIGKILL'), 90_000)
  return new Promise((resolve) => {
    client.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, stdout, stderr })
    })
  })
}
