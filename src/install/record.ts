import * as v from 'valibot'

const RuleSchema = v.picklist(['rule', 'allow', 'permissions'])

/** What an install put into one settings file, kept so that it can be taken out again. */
const RecordSchema = v.object({
  version: v.literal(1),
  agent: v.string(),
  scope: v.picklist(['user', 'project']),
  /** As the client names it; may lead through links. */
  path: v.string(),
  key: v.string(),
  /** False: there was no such file; uninstall removes it. */
  existed: v.boolean(),
  mode: v.nullable(v.number()),
  /** The file without Baton; null when there was none. */
  before: v.nullable(v.object({ sha256: v.string(), backup: v.string() })),
  /** Contents we wrote over those bytes: while the file is one of them, nobody else has written it. */
  after: v.array(v.string()),
  created: v.object({
    hooks: v.boolean(),
    events: v.array(v.string()),
    statusLine: v.boolean(),
    rule: v.optional(RuleSchema),
  }),
  /** True: the rule that allows `baton handoff` was asked for; it stays until uninstall. */
  allow_handoff: v.optional(v.boolean()),
  /** The status line that runs behind ours; null: there was none. */
  former: v.nullable(v.string()),
  former_literal: v.nullable(v.string()),
  /** Folders made on the way, outermost first; removed again if they are empty. */
  folders: v.array(v.string()),
  installed_at: v.string(),
})

export type InstallRecord = v.InferOutput<typeof RecordSchema>

/** null: not a record of ours, or damaged. */
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
