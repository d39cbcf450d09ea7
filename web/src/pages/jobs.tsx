import '../styles/pages.css'
import '../styles/jobs.css'
import { JobDetailPage } from './jobs/job-detail.js'
import { JobList } from './jobs/job-list.js'

export default function Jobs({ id }: { id: string | null }) {
  return id === null ? <JobList /> : <JobDetailPage id={id} />
}
