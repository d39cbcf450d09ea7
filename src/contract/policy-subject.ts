/** What a policy may depend on. */
export interface PolicySubject {
  agent: string
  project: string | null
  model: string | null
  seat: string | null
  /** The session's own environment: some variables are configuration. Absent: that of this process. */
  env?: Record<string, string | undefined>
}
