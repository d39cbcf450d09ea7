/**
 * The properties of a session that select its configuration.
 * A property is null when unknown; no pattern of an override matches it then.
 */
export interface PolicySubject {
  agent: string
  project: string | null
  model: string | null
  seat: string | null
  /**
   * The session's environment, because some variables are configuration.
   * Absent: the environment of this process is used.
   */
  env?: Record<string, string | undefined>
}
