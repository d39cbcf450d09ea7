import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome } from '../../testing/cli-home.js'

test('baton model prints its address first, and answers there by its script', async () => {
  const fixture = createTestHome()
  const script = fixture.put(join(fixture.user, 'climb.json'), '{"steps": [{"text": "Done.", "used": 50008}]}')
  const model = fixture.start(['model', '--script', script])
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
  const fixture = createTestHome()
  expect(await fixture.run(['model'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--script F'),
  })
  expect(await fixture.run(['model', '--script', 'none.json'])).toMatchObject({ code: 3, stdout: '' })
  const script = fixture.put(join(fixture.user, 'wrong.json'), '{"stpes": []}')
  const ran = await fixture.run(['model', '--script', script, '--json'])
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(JSON.parse(ran.stderr)).toMatchObject({
    code: 2,
    file: script,
    errors: expect.arrayContaining([{ key: 'stpes', reason: 'unknown key, did you mean "steps"?' }]),
  })
})

test('baton model refuses a port in use', async () => {
  const fixture = createTestHome()
  const script = fixture.put(join(fixture.user, 'climb.json'), '{"steps": ["Done."]}')
  const first = fixture.start(['model', '--script', script])
  const { port } = new URL(JSON.parse(await first.firstLine()).url)
  expect(await fixture.run(['model', '--script', script, '--port', port])).toMatchObject({ code: 4, stdout: '' })
  await first.stop()
})
