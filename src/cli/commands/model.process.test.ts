import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial } from '../../testing/cli-home.js'

test('baton model prints its address first, and answers there by its script', async () => {
  const trial = newTrial()
  const script = trial.put(join(trial.user, 'climb.json'), '{"steps": [{"text": "Done.", "used": 50008}]}')
  const model = trial.start(['model', '--script', script])
  const { url } = JSON.parse(await model.firstLine())
  const request = { model: 'claude-opus-4-6', max_tokens: 100, messages: [{ role: 'user', content: 'go' }] }
  const answer = (await (
    await fetch(`${url}/v1/messages`, { method: 'POST', body: JSON.stringify(request) })
  ).json()) as {
    content: { text: string }[]
  }
  expect(answer.content[0]!.text).toBe('Done.')
  expect(await model.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' })
})

test('a missing or invalid script is reported with its wrong keys', async () => {
  const trial = newTrial()
  expect(await trial.run(['model'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--script F'),
  })
  expect(await trial.run(['model', '--script', 'none.json'])).toMatchObject({ code: 3, stdout: '' })
  const script = trial.put(join(trial.user, 'wrong.json'), '{"stpes": []}')
  const ran = await trial.run(['model', '--script', script, '--json'])
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(JSON.parse(ran.stderr)).toMatchObject({
    code: 2,
    file: script,
    errors: expect.arrayContaining([{ key: 'stpes', reason: 'unknown key, did you mean "steps"?' }]),
  })
})

test('baton model refuses a port in use', async () => {
  const trial = newTrial()
  const script = trial.put(join(trial.user, 'climb.json'), '{"steps": ["Done."]}')
  const first = trial.start(['model', '--script', script])
  const { port } = new URL(JSON.parse(await first.firstLine()).url)
  expect(await trial.run(['model', '--script', script, '--port', port])).toMatchObject({ code: 4, stdout: '' })
  await first.stop()
})
