import type { ROUTES, RouteName } from '../../src/contract/api/routes.js'

type Routes = typeof ROUTES

/**
 * Method and path of every route. The compiler holds it to the contract's table, whose schemas the page does not load.
 */
export const PATHS: { readonly [N in RouteName]: `${Routes[N]['method']} ${Routes[N]['path']}` } = {
  health: 'get /health',
  access: 'get /api/access',
  ticket: 'post /api/tickets',
  enter: 'post /api/enter',
  sessions: 'get /api/sessions',
  session: 'get /api/sessions/{id}',
  readings: 'get /api/sessions/{id}/readings',
  curve: 'get /api/sessions/{id}/curve',
  forecast: 'get /api/sessions/{id}/forecast',
  messages: 'get /api/sessions/{id}/messages',
  send: 'post /api/sessions/{id}/messages',
  unsend: 'delete /api/messages/{id}',
  handOff: 'post /api/sessions/{id}/handoff',
  cancelHandoff: 'delete /api/sessions/{id}/handoff',
  switchSession: 'put /api/sessions/{id}/enabled',
  forget: 'post /api/sessions/{id}/forget',
  events: 'get /api/events',
  jobs: 'get /api/jobs',
  startJob: 'post /api/jobs',
  job: 'get /api/jobs/{id}',
  jobLog: 'get /api/jobs/{id}/log',
  cancelJob: 'post /api/jobs/{id}/cancel',
  resumeJob: 'post /api/jobs/{id}/resume',
  projects: 'get /api/projects',
  briefs: 'get /api/briefs',
  brief: 'get /api/briefs/{id}',
  editBrief: 'put /api/briefs/{id}',
  holdBrief: 'post /api/briefs/{id}/editing',
  approveBrief: 'post /api/briefs/{id}/approve',
  cancelBrief: 'post /api/briefs/{id}/cancel',
  archives: 'get /api/archives',
  searchArchives: 'get /api/archives/search',
  archive: 'get /api/archives/{id}',
  transcript: 'get /api/archives/{id}/transcript',
  restoreArchive: 'post /api/archives/{id}/restore',
  history: 'get /api/history',
  config: 'get /api/config',
  doctor: 'get /api/doctor',
}
