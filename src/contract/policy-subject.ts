/**
 * The properties of a session that select its configuration.
 * A property is null when unknown. No pattern of an override then matches it.
 */
export interface PolicySubject {
  agent: string
  project: string | null
  model: string | null
  seat: string | null
  /**
   * The session's environment, because some variables are configuration.
   * Absent to use the environment of this process.
   */
  env?: Record<string, string | undefined>
}
