import * as v from 'valibot'

const RuleSchema = v.picklist(['rule', 'allow', 'permissions'])

/**
 * Record of the entries that an install added to one settings file, so that they can be removed.
 */
const RecordSchema = v.object({
  version: v.literal(1),
  agent: v.string(),
  scope: v.picklist(['user', 'project']),
  /** Path as the client names it. May lead through links. */
  path: v.string(),
  key: v.string(),
  /** False when the file did not exist before, so that uninstall removes it. */
  existed: v.boolean(),
  mode: v.nullable(v.number()),
  /** The file without Baton. Null when there was none. */
  before: v.nullable(v.object({ sha256: v.string(), backup: v.string() })),
  /**
   * Hashes of the contents we wrote.
   * While the file has one of them, no other program has written it.
   */
  after: v.array(v.string()),
  created: v.object({
    hooks: v.boolean(),
    events: v.array(v.string()),
    statusLine: v.boolean(),
    rule: v.optional(RuleSchema),
  }),
  /** True when the rule that allows `baton handoff` was requested. It stays until uninstall. */
  allow_handoff: v.optional(v.boolean()),
  /** The status line that runs after ours. Null when there was none. */
  former: v.nullable(v.string()),
  former_literal: v.nullable(v.string()),
  /** Folders made for the file, outermost first. Removed again if they are empty. */
  folders: v.array(v.string()),
  installed_at: v.string(),
})

export type InstallRecord = v.InferOutput<typeof RecordSchema>

/** Parses a record. Null when it is not ours or damaged. */
export function readRecord(text: string): InstallRecord | null {
  try {
    const parsed = v.safeParse(RecordSchema, JSON.parse(text))
    return parsed.success ? parsed.output : null
  } catch {
    return null
  }
}

export function printRecord(record: InstallRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`
}
