import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Where everything of Baton's lives. One folder with BATON_HOME, else the XDG places. */
export interface Home {
  root: string
  /** The user's configuration file. */
  config: string
  store: string
  log: string
  /** The stable launcher that agents' settings name. */
  launcher: string
  /** Written by a running server: port, token, pid. */
  server: string
  /** Signals taken while no server ran, one file each. */
  spool: string
  /** Answers the engine left for the next hook of a session. */
  outbox: string
  /** Reports of the mod inside a client, one file a session. */
  live: string
  /** Compiled copies of the configuration. */
  compiled: string
  /** Which project files the user accepted, one file a folder. */
  trust: string
  /** Briefs, one folder a seat. */
  briefs: string
  /** What briefs of this machine are signed with. */
  key: string
  /** Facts of sessions as far as their transcripts were read, one file a session. */
  facts: string
  /** Settings of forks that write briefs, one file each, while they run. */
  forks: string
  /** Messages too long for a client, one file each. */
  messages: string
  /** Signals that could not be taken, for somebody to look at. */
  aside: string
  /** Compiled code of the engine. */
  code: string
  /** Prompts, logs and journals of jobs, one folder a job. */
  jobs: string
}

type Env = Record<string, string | undefined>

/**
 * The launcher hands on the places it was installed with (`BATON_DATA`, `BATON_CONFIG`, `BATON_LOG_FILE`): a client's environment
 * need not be that of the shell Baton was installed from. `BATON_HOME` is the person's word and goes before all.
 */
export function batonHome(env: Env = process.env): Home {
  const own = env.BATON_HOME && isAbsolute(env.BATON_HOME) ? env.BATON_HOME : undefined
  const user = env.HOME || homedir()
  const root = own || env.BATON_DATA || join(env.XDG_DATA_HOME || join(user, '.local', 'share'), 'baton')
  const config = join(own || join(env.XDG_CONFIG_HOME || join(user, '.config'), 'baton'), 'config.yaml')
  const log = join(own || join(env.XDG_STATE_HOME || join(user, '.local', 'state'), 'baton'), 'baton.log')
  return {
    root,
    config: own ? config : env.BATON_CONFIG || config,
    log: own ? log : env.BATON_LOG_FILE || log,
    store: join(root, 'baton.db'),
    launcher: join(root, 'bin', 'hook'),
    server: join(root, 'run', 'server'),
    spool: join(root, 'spool'),
    outbox: join(root, 'outbox'),
    live: join(root, 'live'),
    compiled: join(root, 'run', 'config'),
    trust: join(root, 'trust'),
    briefs: join(root, 'briefs'),
    key: join(root, 'key'),
    facts: join(root, 'facts'),
    forks: join(root, 'forks'),
    messages: join(root, 'messages'),
    aside: join(root, 'aside'),
    code: join(root, 'code'),
    jobs: join(root, 'jobs'),
  }
}
