import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The paths of all files of Baton: one folder with BATON_HOME, else the XDG folders. */
export interface Home {
  root: string
  /** The user's configuration file. */
  config: string
  store: string
  log: string
  /** The launcher (hook program) at a stable path, which the settings of agents name. */
  launcher: string
  /** File with the port, token and pid of the running server. */
  server: string
  /** Signals that arrived while no server ran, one file each. */
  spool: string
  /** Answers that the engine prepared for the next hook of a session. */
  outbox: string
  /** Live reports of the plugin module inside a client, one file per session. */
  live: string
  /** Compiled copies of the configuration. */
  compiled: string
  /** Project files that the user accepted, one file per folder. */
  trust: string
  /** Briefs, one folder per seat (terminal or job). */
  briefs: string
  /** The key that signs briefs of this machine. */
  key: string
  /** Facts extracted so far from transcripts, one file per session. */
  facts: string
  /** Settings of forks that write briefs, one file each, while they run. */
  forks: string
  /** Messages that are too long for a client, one file each. */
  messages: string
  /** Signals that could not be processed, kept for inspection. */
  aside: string
  /** Compiled code of the engine. */
  code: string
  /** Prompts, logs and journals of jobs, one folder per job. */
  jobs: string
}

type Env = Record<string, string | undefined>

/**
 * Returns the paths of the home.
 * `BATON_HOME` has priority.
 * Next are the paths with which the launcher was installed (`BATON_DATA`, `BATON_CONFIG`,
 * `BATON_LOG_FILE`).
 * The client's environment may differ from that of the shell in which Baton was installed.
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
