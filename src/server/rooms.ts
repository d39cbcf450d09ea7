import type { ArchiveShown, HitShown, TranscriptPart } from '../contract/api/archives.js'
import type { BriefDetail, BriefRow } from '../contract/api/briefs.js'
import type { History } from '../contract/api/history.js'
import type { JobDetail, JobLogPart, JobShown, Projects } from '../contract/api/jobs.js'
import type { ReplyOf, TakenBody } from '../contract/api/routes.js'
import type { HandoffShown, MessageShown } from '../contract/api/sessions.js'
import type { Doctor, Settings } from '../contract/api/settings.js'
import type { Mode } from '../contract/level.js'
import type { SessionRecord } from '../contract/record.js'

/**
 * What routes need of rooms that the server may not enter; `page/` joins them. Whatever is named by an id is found by its beginning too;
 * what is not there, or cannot be done, is a `BatonError`.
 */
export interface Rooms extends JobRooms, BriefRooms, ArchiveRooms, SessionRooms, SettingsRooms {}

export interface SessionRooms {
  /** Says something to the seat of a session, as a person. */
  send(to: SessionRecord, text: string, mode: Mode): MessageShown
  unsend(messageId: string): MessageShown
  handOff(record: SessionRecord, reason: string | null): HandoffShown
  cancelHandoff(record: SessionRecord): HandoffShown
  switchSession(record: SessionRecord, enabled: boolean): void
}

export interface JobRooms {
  /** Jobs that are open and those of the last week, newest first, as `jobs list` has them. */
  jobs(all: boolean): JobShown[]
  /** As that list has it, by its whole id; null: it has not. */
  listedJob(jobId: string): JobShown | null
  job(id: string): JobDetail
  /** `after`: the `next` of the part before; null: from the beginning. */
  jobLog(id: string, after: string | null): JobLogPart
  startJob(order: TakenBody<'startJob'>): Promise<JobShown>
  cancelJob(id: string): Promise<JobShown>
  resumeJob(id: string): JobShown
  projects(): Projects
}

export interface BriefQuery {
  seat?: string | undefined
  session?: string | undefined
  status?: string | undefined
  limit?: number | undefined
}

export interface BriefRooms {
  /** Newest first. */
  briefs(query: BriefQuery): BriefRow[]
  brief(id: string): BriefDetail
  editBrief(id: string, text: string): BriefRow
  holdBrief(id: string, editing: boolean): BriefRow
  approveBrief(id: string): BriefRow
  cancelBrief(id: string): BriefRow
}

export interface ArchiveQuery {
  session?: string | undefined
  project?: string | undefined
  limit?: number | undefined
}

export interface ArchiveRooms {
  archives(query: ArchiveQuery): ReplyOf<'archives'>
  archive(id: string): ArchiveShown
  /** `before`: what stands before this line, the last of it; null: from `from` on. `whole`: no text is cut. */
  transcript(
    id: string,
    page: { from: number; before: number | null; limit: number; subagent: string | null; whole: boolean },
  ): Promise<TranscriptPart>
  search(query: ArchiveQuery & { q: string }): Promise<{ hits: HitShown[]; unreadable: string[] }>
  restore(id: string, wish: TakenBody<'restoreArchive'>): Promise<ReplyOf<'restoreArchive'>>
  forget(record: SessionRecord): Promise<ReplyOf<'forget'>>
}

export interface SettingsRooms {
  /** null: for no session. */
  settings(record: SessionRecord | null): Settings
  /** At most one runs at a time; what it found holds for half a minute unless it is wanted `fresh`. */
  doctor(fresh: boolean): Promise<Doctor>
  history(query: { days?: number | undefined; timezone?: string | undefined }): History
  spendToday(): { cost_usd: number | null; input_tokens: number; output_tokens: number }
}
