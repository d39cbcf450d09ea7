import { existsSync } from 'node:fs'
import { loadConfig } from '../config/load-config.js'
import type { JobLogLine, JobShown, Projects } from '../contract/api/jobs.js'
import type { House } from '../house.js'
import { isRecent, jobNamed, recentJobs } from '../jobs/find-job.js'
import { readLogPart } from '../jobs/read-log-part.js'
import { logOf } from '../jobs/run-job.js'
import { viewJob, viewJobDetail } from '../jobs/view-job.js'
import { jobFolder } from '../jobs-of.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { JobRooms } from '../server/rooms.js'
import type { Hands } from './hands.js'

/** Of what a client said in one go. */
const LONGEST_TEXT = 4_000
/** Folders are looked into one by one. */
const MOST_PROJECTS = 100

export function jobPage(house: House, hands: Hands): JobRooms {
  const { store } = house
  const shown = (jobId: string): JobShown => viewJob(store.job(jobId)!, store.attempts(jobId))
  const folders = (): string[] => [...new Set(store.sessions().flatMap(({ project }) => project ?? []))]
  return {
    jobs: (all) => recentJobs(store, all, house.now()),
    listedJob(jobId) {
      const job = store.job(jobId)
      return job !== null && isRecent(job, house.now()) ? shown(jobId) : null
    },
    job(id) {
      const job = jobNamed(store, id)
      return viewJobDetail(job, store.attempts(job.jobId), jobFolder(house, job.jobId))
    },
    jobLog(id, after) {
      const { jobId, spec } = jobNamed(store, id)
      const { lines, ...place } = readLogPart(logOf(jobFolder(house, jobId)), after)
      return { lines: lines.flatMap((line) => hands.readLogLine(line, spec.agent)).map(cutOff), ...place }
    },
    async startJob({ project, agent, prompt, work_item }) {
      if (!folders().includes(project))
        throw new BatonError(
          `Baton knows no project ${project}.`,
          'It knows the folders its sessions ran in; elsewhere: baton run.',
          EXIT.notFound,
        )
      const flags = { ...(prompt === null ? {} : { prompt }), ...(work_item === null ? {} : { workItem: work_item }) }
      const { jobId } = await hands.startJob({ folder: project, agentName: agent, flags })
      return shown(jobId)
    },
    async cancelJob(id) {
      const { jobId } = jobNamed(store, id)
      await hands.command(['jobs', '--json', 'cancel', jobId])
      return shown(jobId)
    },
    resumeJob: (id) => shown(hands.resumeJob(jobNamed(store, id).jobId).jobId),
    projects: () => ({ projects: folders().filter(existsSync).slice(0, MOST_PROJECTS).map(projectIn) }),
  }

  function projectIn(project: string): Projects['projects'][number] {
    const { config, problems } = loadConfig({ home: house.home, project, env: hands.env })
    const agents = Object.entries(config.agents).map(([name, agent]) => ({
      name,
      has_prompt: (agent.prompt ?? agent.prompt_file ?? null) !== null,
      model: agent.model ?? null,
    }))
    const [first] = problems
    const trouble = first === undefined ? null : `${first.file}: ${first.key ? `${first.key}: ` : ''}${first.reason}`
    return { project, agents, trouble }
  }
}

function cutOff(line: JobLogLine): JobLogLine {
  return line.text.length <= LONGEST_TEXT ? line : { ...line, text: `${line.text.slice(0, LONGEST_TEXT)}…` }
}
