import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Home } from '../../harness/home.js'
import { until } from '../../harness/wait.js'

/** Every hook event of the client that Baton may receive. */
const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Notification',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
  'SessionEnd',
]

/** A hook call of the client, with the files that were readable at that moment. */
export interface TapedEvent {
  /** The client's event, or `status-line`. */
  event: string
  body: Record<string, unknown>
  json: string
  env: Record<string, string>
  /** The session's live report at that moment. Null when there was none. */
  live: string | null
  /** Copy of the session's transcript at that moment. Null when there was none. */
  transcript: string | null
}

export interface Tape {
  recorded(): TapedEvent[]
  waitFor(what: string, fits: (recorded: TapedEvent[]) => boolean): Promise<void>
}

/**
 * Makes every hook of a home record its input with copies of live report and transcript. Call it
 * before the client starts.
 */
export function startTape(home: Home, liveDir: string): Tape {
  const dir = path.join(home.dir, 'tape')
  mkdirSync(dir, { recursive: true })
  const script = path.join(home.dir, 'tape.sh')
  writeFileSync(
    script,
    `n="${dir}/$(date +%s%N)-$1"
cat > "$n.body"
cat "${liveDir}/$CLAUDE_CODE_SESSION_ID.json" > "$n.live" 2>/dev/null
cp "$(sed -n 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/p' "$n.body")" "$n.transcript" 2>/dev/null
env > "$n.env"
mv "$n.body" "$n.json"
[ "$1" = status-line ] && echo taped
exit 0
`,
  )
  const hook = (event: string) => ({ type: 'command', command: `sh ${script} ${event}` })
  home.settings({
    hooks: Object.fromEntries(EVENTS.map((event) => [event, [{ hooks: [hook(event)] }]])),
    statusLine: hook('status-line'),
  })
  const recorded = (): TapedEvent[] =>
    readdirSync(dir)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => read(dir, name.slice(0, -'.json'.length)))
  return {
    recorded,
    waitFor: async (what, fits) => {
      await until(
        () => `${what}; so far: ${recorded().map(({ event }) => event)}`,
        () => fits(recorded()),
      )
    },
  }
}

function read(dir: string, name: string): TapedEvent {
  const json = readFileSync(path.join(dir, `${name}.json`), 'utf8')
  const live = readFileSync(path.join(dir, `${name}.live`), 'utf8')
  const env = readFileSync(path.join(dir, `${name}.env`), 'utf8').split('\n')
  return {
    event: name.slice(name.indexOf('-') + 1),
    body: JSON.parse(json),
    json,
    env: Object.fromEntries(env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
    live: live === '' ? null : live,
    transcript: existsSync(path.join(dir, `${name}.transcript`)) ? path.join(dir, `${name}.transcript`) : null,
  }
}
