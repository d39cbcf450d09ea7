import * as v from 'valibot'
import * as archives from './archives.js'
import * as briefs from './briefs.js'
import * as history from './history.js'
import * as jobs from './jobs.js'
import * as live from './live.js'
import * as sessions from './sessions.js'
import * as settings from './settings.js'
import { text } from './shapes.js'

/**
 * Who may ask on loopback. `open`: everybody. `figures`: everybody; words of conversations only with the token or a page's key.
 * `token`: only with one of them. Beyond loopback everybody needs one for everything.
 */
export type Access = 'open' | 'figures' | 'token'

export interface RouteSpec {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** As OpenAPI writes it: `/api/sessions/{id}`. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  /** Names and kinds of query parameters. */
  readonly query?: v.ObjectEntries
  readonly body?: v.GenericSchema
  readonly reply: v.GenericSchema
  /** Refusals beside 400 (bad input), 401 and 403. 404: no such thing. 409: not now, or not any more; the reason says why. */
  readonly refusals?: readonly (404 | 409)[]
}

const whole = (least: number, most: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'a whole number'), v.transform(Number), v.minValue(least), v.maxValue(most))
const limit = (most: number) => v.optional(whole(1, most))
/** Given at all, whatever its value. */
const flag = v.optional(v.string())
const words = v.optional(v.pipe(text, v.maxLength(1_000)))

/** Every route of the server that programs and the page use. The server mounts exactly these; `/api/openapi.json` is made from them. */
export const ROUTES = {
  health: { method: 'get', path: '/health', summary: 'Is it there, and which version', access: 'open', reply: settings.health },
  access: { method: 'get', path: '/api/access', summary: 'What this caller may see', access: 'figures', reply: settings.access },
  ticket: {
    method: 'post',
    path: '/api/tickets',
    summary: 'A ticket that lets one browser in',
    access: 'token',
    reply: settings.ticket,
  },
  enter: {
    method: 'post',
    path: '/api/enter',
    summary: 'A key for a ticket or the token',
    access: 'open',
    body: settings.entering,
    reply: settings.entered,
  },

  sessions: {
    method: 'get',
    path: '/api/sessions',
    summary: 'Live sessions and those of the last 24 hours, newest first',
    access: 'figures',
    query: { all: flag },
    reply: v.object({ sessions: v.array(sessions.sessionRow) }),
  },
  session: {
    method: 'get',
    path: '/api/sessions/{id}',
    summary: 'One session, or the one in a seat',
    access: 'figures',
    reply: sessions.sessionDetail,
    refusals: [404],
  },
  readings: {
    method: 'get',
    path: '/api/sessions/{id}/readings',
    summary: 'Its climb over time',
    access: 'figures',
    query: { limit: limit(100_000) },
    reply: sessions.readings,
    refusals: [404],
  },
  curve: {
    method: 'get',
    path: '/api/sessions/{id}/curve',
    summary: 'Its climb as columns, for drawing',
    access: 'figures',
    query: { limit: limit(100_000) },
    reply: sessions.readingColumns,
    refusals: [404],
  },
  forecast: {
    method: 'get',
    path: '/api/sessions/{id}/forecast',
    summary: 'Steps to each level and to compaction, at plain growth',
    access: 'figures',
    reply: sessions.forecast,
    refusals: [404],
  },
  messages: {
    method: 'get',
    path: '/api/sessions/{id}/messages',
    summary: 'What its seat was told',
    access: 'token',
    query: { limit: limit(1_000) },
    reply: v.object({ messages: v.array(sessions.message) }),
    refusals: [404],
  },
  send: {
    method: 'post',
    path: '/api/sessions/{id}/messages',
    summary: 'Tell its agent something',
    access: 'token',
    body: sessions.newMessage,
    reply: sessions.message,
    refusals: [404, 409],
  },
  unsend: {
    method: 'delete',
    path: '/api/messages/{id}',
    summary: 'Take a message back that was not given yet',
    access: 'token',
    reply: sessions.message,
    refusals: [404, 409],
  },
  handOff: {
    method: 'post',
    path: '/api/sessions/{id}/handoff',
    summary: 'Ask its agent for a brief and hand the work over',
    access: 'token',
    body: sessions.handoffRequest,
    reply: sessions.handoff,
    refusals: [404, 409],
  },
  cancelHandoff: {
    method: 'delete',
    path: '/api/sessions/{id}/handoff',
    summary: 'Call off the handoff under way',
    access: 'token',
    reply: sessions.handoff,
    refusals: [404, 409],
  },
  switchSession: {
    method: 'put',
    path: '/api/sessions/{id}/enabled',
    summary: 'Silence Baton for a session, or wake it',
    access: 'token',
    body: sessions.enabledWish,
    reply: sessions.enabledWish,
    refusals: [404],
  },
  forget: {
    method: 'post',
    path: '/api/sessions/{id}/forget',
    summary: 'Forget its archives, briefs and words for good',
    access: 'token',
    reply: archives.forgotten,
    refusals: [404, 409],
  },

  events: {
    method: 'get',
    path: '/api/events',
    summary: 'What happened',
    access: 'figures',
    query: { since: v.optional(text), session: words, job: words, without_readings: flag, limit: limit(10_000) },
    reply: v.object({ events: v.array(live.event) }),
    refusals: [404],
  },

  jobs: {
    method: 'get',
    path: '/api/jobs',
    summary: 'Open jobs and those of the last week',
    access: 'figures',
    query: { all: flag },
    reply: v.object({ jobs: v.array(jobs.job) }),
  },
  startJob: {
    method: 'post',
    path: '/api/jobs',
    summary: 'Start a named agent of a project',
    access: 'token',
    body: jobs.newJob,
    reply: jobs.job,
    refusals: [404, 409],
  },
  job: { method: 'get', path: '/api/jobs/{id}', summary: 'One job', access: 'figures', reply: jobs.jobDetail, refusals: [404] },
  jobLog: {
    method: 'get',
    path: '/api/jobs/{id}/log',
    summary: 'What its clients said',
    access: 'token',
    query: { after: words },
    reply: jobs.jobLog,
    refusals: [404],
  },
  cancelJob: {
    method: 'post',
    path: '/api/jobs/{id}/cancel',
    summary: 'End it',
    access: 'token',
    reply: jobs.job,
    refusals: [404, 409],
  },
  resumeJob: {
    method: 'post',
    path: '/api/jobs/{id}/resume',
    summary: 'Go on with it',
    access: 'token',
    reply: jobs.job,
    refusals: [404, 409],
  },
  projects: {
    method: 'get',
    path: '/api/projects',
    summary: 'Known folders and their named agents',
    access: 'token',
    reply: jobs.projects,
  },

  briefs: {
    method: 'get',
    path: '/api/briefs',
    summary: 'Briefs, newest first',
    access: 'token',
    query: { seat: words, session: words, status: words, limit: limit(1_000) },
    reply: v.object({ briefs: v.array(briefs.briefRow) }),
    refusals: [404],
  },
  brief: {
    method: 'get',
    path: '/api/briefs/{id}',
    summary: 'One brief with its text',
    access: 'token',
    reply: briefs.briefDetail,
    refusals: [404],
  },
  editBrief: {
    method: 'put',
    path: '/api/briefs/{id}',
    summary: 'Another text in its place; a brief of its own',
    access: 'token',
    body: briefs.briefEdit,
    reply: briefs.briefRow,
    refusals: [404, 409],
  },
  holdBrief: {
    method: 'post',
    path: '/api/briefs/{id}/editing',
    summary: 'Somebody begins or ends editing: meanwhile it is not used',
    access: 'token',
    body: briefs.briefHold,
    reply: briefs.briefRow,
    refusals: [404, 409],
  },
  approveBrief: {
    method: 'post',
    path: '/api/briefs/{id}/approve',
    summary: 'It may be used',
    access: 'token',
    reply: briefs.briefRow,
    refusals: [404, 409],
  },
  cancelBrief: {
    method: 'post',
    path: '/api/briefs/{id}/cancel',
    summary: 'It will not be used',
    access: 'token',
    reply: briefs.briefRow,
    refusals: [404, 409],
  },

  archives: {
    method: 'get',
    path: '/api/archives',
    summary: 'Kept transcripts, newest first',
    access: 'token',
    query: { session: words, project: words, limit: limit(1_000) },
    reply: v.object({ archives: v.array(archives.archive), total_bytes: v.number(), index_bytes: v.number() }),
    refusals: [404],
  },
  searchArchives: {
    method: 'get',
    path: '/api/archives/search',
    summary: 'Full text over all of them',
    access: 'token',
    query: { q: v.pipe(text, v.minLength(1), v.maxLength(1_000)), session: words, project: words, limit: limit(200) },
    reply: archives.hits,
    refusals: [404],
  },
  archive: {
    method: 'get',
    path: '/api/archives/{id}',
    summary: 'One archive',
    access: 'token',
    reply: archives.archive,
    refusals: [404],
  },
  transcript: {
    method: 'get',
    path: '/api/archives/{id}/transcript',
    summary: 'What it holds, readably',
    access: 'token',
    // From a line on, or what stands before one; a line is never divided. `whole`: no text is cut.
    query: {
      from: v.optional(whole(1, 999_999_999)),
      before: v.optional(whole(1, 999_999_999)),
      limit: limit(1_000),
      subagent: words,
      whole: flag,
    },
    reply: archives.transcript,
    refusals: [404, 409],
  },
  restoreArchive: {
    method: 'post',
    path: '/api/archives/{id}/restore',
    summary: 'The transcript as it was, into a file',
    access: 'token',
    body: archives.restoreWish,
    reply: archives.restored,
    refusals: [404, 409],
  },

  history: {
    method: 'get',
    path: '/api/history',
    summary: 'Spend and sessions by day, project and model',
    access: 'figures',
    query: { days: v.optional(whole(1, 400)), timezone: words },
    reply: history.history,
  },
  config: {
    method: 'get',
    path: '/api/config',
    summary: 'Levels in force and where each comes from',
    access: 'figures',
    query: { session: words },
    reply: settings.settings,
    refusals: [404],
  },
  doctor: {
    method: 'get',
    path: '/api/doctor',
    summary: 'Does everything work',
    access: 'figures',
    query: { fresh: flag },
    reply: settings.doctor,
  },
} as const satisfies Record<string, RouteSpec>

export type RouteName = keyof typeof ROUTES
type Spec<N extends RouteName> = (typeof ROUTES)[N]
export type ReplyOf<N extends RouteName> = v.InferOutput<Spec<N>['reply']>
export type BodyOf<N extends RouteName> = Spec<N> extends { body: infer B extends v.GenericSchema } ? v.InferInput<B> : undefined
export type TakenBody<N extends RouteName> =
  Spec<N> extends { body: infer B extends v.GenericSchema } ? v.InferOutput<B> : undefined
export type QueryOf<N extends RouteName> =
  Spec<N> extends { query: infer Q extends v.ObjectEntries } ? v.InferInput<v.ObjectSchema<Q, undefined>> : Record<never, never>
export type TakenQuery<N extends RouteName> =
  Spec<N> extends { query: infer Q extends v.ObjectEntries } ? v.InferOutput<v.ObjectSchema<Q, undefined>> : Record<never, never>
