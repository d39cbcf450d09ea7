import { Hono } from 'hono'
import type { CallerEnv } from '../access.js'
import type { ServerParts } from '../parts.js'
import { jobWithoutWords } from '../withhold.js'

/** Jobs as `jobs list` and `jobs show` have them. What they were asked and what they said only for whoever gave a token. */
export function jobs(parts: ServerParts): Hono<CallerEnv> {
  const app = new Hono<CallerEnv>()
  const shown = (job: object, words: boolean): object => (words ? job : jobWithoutWords(job))

  app.get('/api/jobs', (c) =>
    c.json({ jobs: parts.jobs(c.req.query('all') !== undefined).map((job) => shown(job, c.env.words)) }),
  )

  app.get('/api/jobs/:id', (c) => {
    const job = parts.job(c.req.param('id'))
    return job
      ? c.json(shown(job, c.env.words))
      : c.json({ error: `No job ${c.req.param('id')}`, hint: 'baton jobs list shows them' }, 404)
  })
  return app
}
