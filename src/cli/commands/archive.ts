import type { Call, Cli, Command, Option } from '../command.js'
import { wrong } from '../parse-call.js'

const ACTIONS = ['list', 'show', 'restore', 'export', 'search', 'verify', 'prune', 'forget', 'keep', 'finish'] as const
type Action = (typeof ACTIONS)[number]

const options = {
  to: { type: 'string', value: 'FILE', about: 'restore, export: the file to write' },
  force: { type: 'boolean', about: 'restore, export: replace the file if it is there' },
  redact: { type: 'boolean', about: 'export: remove what looks like a key, a token, a password, and what archive.redact says' },
  emails: { type: 'boolean', about: 'export --redact: remove e-mail addresses too' },
  subagent: { type: 'string', value: 'NAME', about: 'restore, export: the transcript of this subagent' },
  session: { type: 'string', value: 'ID', about: 'list, search: only this session, or all of a seat' },
  project: { type: 'string', value: 'DIR', about: 'list, search, forget: only the project of this folder' },
  limit: { type: 'string', value: 'N', about: 'search: so many hits (20)' },
  'older-than': { type: 'string', value: 'D', about: 'prune: what is older than 12h, 30d, 8w, or a date' },
  'max-size': { type: 'string', value: 'S', about: 'prune: until all together take at most 10GB, 500MB, 2GiB' },
  'dry-run': { type: 'boolean', about: 'prune, forget: only say what would go' },
} satisfies Record<string, Option>

/** What each action takes: words after it, at least and at most, and options. */
const FORMS: Record<Action, { words: [number, number]; options: (keyof typeof options)[] }> = {
  list: { words: [0, 0], options: ['session', 'project'] },
  show: { words: [1, 1], options: [] },
  restore: { words: [1, 1], options: ['to', 'force', 'subagent'] },
  export: { words: [1, 1], options: ['to', 'force', 'subagent', 'redact', 'emails'] },
  search: { words: [1, 100], options: ['session', 'project', 'limit'] },
  verify: { words: [0, 1], options: [] },
  prune: { words: [0, 0], options: ['older-than', 'max-size', 'dry-run'] },
  forget: { words: [0, 1], options: ['project', 'dry-run'] },
  keep: { words: [0, 1], options: [] },
  finish: { words: [0, 0], options: [] },
}

export const command: Command = {
  name: 'archive',
  summary: 'list, search, restore and remove kept transcripts',
  usage: [
    'list [--session ID] [--project DIR]',
    'show <id>',
    'restore <id> --to FILE [--force] [--subagent NAME]',
    'export <id> --to FILE [--redact [--emails]] [--force] [--subagent NAME]',
    'search <query> [--session ID] [--project DIR] [--limit N]',
    'verify [id]',
    'prune [--older-than D] [--max-size S] [--dry-run]',
    'forget <session|id> [--dry-run]',
    'forget --project DIR [--dry-run]',
    'keep [session]',
    'finish',
  ],
  about:
    'A transcript is kept before it is compacted: what stood in it at that moment, byte for byte. Archives are plain conversation, compressed, ' +
    'readable by you alone. An id may be shortened to four characters. search finds words that all stand in one prompt, answer, command ' +
    'or result; "a phrase" stands together, and a star ends the beginning of a word. prune without options does what the configuration says ' +
    '(archive.keep_days, archive.keep_bytes). verify ends with 1 when anything is wrong. forget takes a session (or all of a project) with every word quoted of it, or a single archive by its id. keep keeps what a session has said so far. finish keeps at once what hooks only planned; every ' +
    'other action does that first.',
  options,
  actions: ACTIONS,
  words: { min: 1, max: 101 },
  examples: [
    ['baton archive list', 'what is kept'],
    ['baton archive search \'"rate limit" retry*\'', 'a phrase and the beginning of a word'],
    ['baton archive restore arc_3f2a --to session.jsonl', 'the transcript as it was'],
    ['baton archive export arc_3f2a --to give-away.jsonl --redact', 'without what looks like a secret'],
    ['baton archive prune --older-than 90d --dry-run', 'what would go'],
    ['baton archive forget --project ~/secret-work', 'remove everything kept of a project'],
  ],
  json:
    'list: {archives: [{archive_id, session_id, project, trigger, created_at, bytes, stored_bytes, sha256, path, status, reason, …}], total_bytes, …}; ' +
    'search: {hits: [{archive_id, line, kind, text, snippet, …}], unreadable}; verify: {ok, archives: [{archive_id, state, reason}], extra, not_kept}; ' +
    'prune, forget: {dry_run, archives, freed_bytes, left_bytes, …}; restore, export: {archive_id, path, bytes, …}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const action = call.words[0] as Action
  check(call, action)
  switch (action) {
    case 'list':
      return (await import('../archive/list.js')).list(call, cli)
    case 'show':
      return (await import('../archive/show.js')).show(call, cli)
    case 'restore':
    case 'export':
      return (await import('../archive/take-out.js')).takeOut(call, cli, action)
    case 'search':
      return (await import('../archive/search.js')).search(call, cli)
    case 'verify':
      return (await import('../archive/verify.js')).verify(call, cli)
    case 'prune':
      return (await import('../archive/drop.js')).prune(call, cli)
    case 'forget':
      return (await import('../archive/drop.js')).forget(call, cli)
    case 'keep':
      return (await import('../archive/keep.js')).keep(call, cli)
    case 'finish':
      return (await import('../archive/finish.js')).finish(call, cli)
  }
}

function check(call: Call, action: Action): void {
  const form = FORMS[action]
  const [least, most] = form.words
  const given = call.words.length - 1
  const usage = command.usage.find((line) => line.split(' ', 1)[0] === action)!
  if (given < least) throw wrong(command, `baton archive ${action} needs more: baton archive ${usage}.`)
  if (given > most) throw wrong(command, `baton archive ${action} does not know what to do with "${call.words[most + 1]}".`)
  for (const [name, { type }] of Object.entries(options)) {
    const isGiven = type === 'boolean' ? call.flag(name) : call.value(name) !== null
    if (isGiven && !(form.options as string[]).includes(name))
      throw wrong(command, `baton archive ${action} has no option --${name}.`)
  }
  if (call.flag('emails') && !call.flag('redact')) throw wrong(command, '--emails needs --redact.')
}
