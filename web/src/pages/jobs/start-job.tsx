import { type FormEvent, useState } from 'react'
import type { Projects } from '../../../../src/contract/api/jobs.js'
import { call, problemFrom } from '../../api.js'
import { folderName } from '../../format.js'
import { useLive } from '../../live/use-live.js'
import { navigate } from '../../navigation.js'
import { Dialog } from '../../parts/dialog.js'
import { Problem, type ProblemShown, Skeleton } from '../../parts/faces.js'
import { toast } from '../../parts/toast.js'
import { jobHref } from '../../route.js'
import { useCall } from '../../use-call.js'
import { YamlExample } from './how-to-begin.js'

/** Starts a named agent of a project Baton knows. */
export function StartJob() {
  const words = useLive((live) => live.words)
  const [open, setOpen] = useState(false)
  if (!words) return null
  return (
    <>
      <button type="button" className="button primary" onClick={() => setOpen(true)}>
        Start a job
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Start a job">
        <ChooseAgent onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

function ChooseAgent({ onClose }: { onClose: () => void }) {
  const { data, problem, loading, again } = useCall('projects', {})
  if (problem !== null) return <Problem problem={problem} again={again} />
  if (loading || data === null) return <Skeleton lines={4} />
  const usable = data.projects.filter(({ agents }) => agents.length > 0)
  const broken = data.projects.filter(({ trouble }) => trouble !== null)
  if (usable.length > 0) return <StartForm projects={usable} onClose={onClose} />
  return (
    <div className="stack">
      {broken.map(({ project, trouble }) => (
        <Problem key={project} problem={{ error: `${project}: the agents cannot be told.`, hint: trouble ?? undefined }} />
      ))}
      <p>No folder that sessions ran in names an agent yet. One needs a file like this:</p>
      <YamlExample />
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  )
}

function StartForm({ projects, onClose }: { projects: Projects['projects']; onClose: () => void }) {
  const [project, setProject] = useState(projects[0]!)
  const [agent, setAgent] = useState(projects[0]!.agents[0]!)
  const [trouble, setTrouble] = useState<ProblemShown | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const said = (name: string): string | null => String(form.get(name) ?? '').trim() || null
    if (!agent.has_prompt && said('prompt') === null)
      return setTrouble({ error: `${agent.name} has no task of its own: write one.` })
    setBusy(true)
    try {
      const body = { project: project.project, agent: agent.name, prompt: said('prompt'), work_item: said('work_item') }
      const job = await call('startJob', { body })
      toast('The job is started')
      navigate(jobHref(job.job_id))
    } catch (error) {
      setTrouble(problemFrom(error))
      setBusy(false)
    }
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>Project</span>
        <select
          value={project.project}
          onChange={({ target }) => {
            const next = projects.find((each) => each.project === target.value) ?? project
            setProject(next)
            setAgent(next.agents[0]!)
          }}
        >
          {projects.map((each) => (
            <option key={each.project} value={each.project}>
              {folderName(each.project)} – {each.project}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Agent</span>
        <select
          value={agent.name}
          onChange={({ target }) => setAgent(project.agents.find(({ name }) => name === target.value) ?? agent)}
        >
          {project.agents.map(({ name, model }) => (
            <option key={name} value={name}>
              {model === null ? name : `${name} (${model})`}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Task{agent.has_prompt ? ', instead of the one in baton.yaml' : ''}</span>
        <textarea name="prompt" rows={4} maxLength={100_000} placeholder={agent.has_prompt ? 'As baton.yaml says' : undefined} />
      </label>
      <label className="field">
        <span>Work item, if it has one</span>
        <input name="work_item" maxLength={200} placeholder="LIN-42" autoComplete="off" />
      </label>
      {trouble !== null && <Problem problem={trouble} />}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Not now
        </button>
        <button type="submit" className="button primary" disabled={busy}>
          Start
        </button>
      </div>
    </form>
  )
}
