import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BATON } from '../../../test/harness/paths.js'
import { until } from '../../../test/harness/wait.js'
import { createTestHome, sendReading, statusLineJson } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

test('statusline prints its segment and stores the reading', async () => {
  const fixture = createTestHome()
  const input = statusLineJson({ session: A, project: fixture.project, used: 118_600 })
  const ran = await fixture.run(['statusline', '--segment'], { input, env: { NO_COLOR: '1', BATON_SEAT: 'api' } })
  expect(ran).toMatchObject({
    code: 0,
    stdout: '▰▰▰▰▰▰▰▱┃▱ 71% of compaction point 119k/~167k · warning\n',
    stderr: '',
  })
  expect((await fixture.run(['show', 'api', '--json'])).json).toMatchObject({ session_id: A, used_tokens: 118_600 })
  const again = await fixture.run(['statusline', '--json'], { input, env: { NO_COLOR: '1' } })
  expect(again.json).toEqual({ text: ran.stdout.trimEnd(), session_id: A })
})

test('with a server running, statusline sends it the reading, whatever the environment contains', async () => {
  const fixture = createTestHome()
  const server = fixture.start(['serve', '--port', '0', '--json'])
  const { url } = JSON.parse(await server.firstLine())
  const ran = await fixture.run(['statusline'], {
    input: statusLineJson({ session: A, project: fixture.project, used: 118_600 }),
    env: { BATON_SEAT: 'größe\n日本', NO_COLOR: '1' },
  })
  expect(ran.stdout).toBe('▰▰▰▰▰▰▰▱┃▱ 71% of compaction point 119k/~167k · warning\n')
  const seen = (await (await fetch(`${url}/sessions/${A}`, { headers: fixture.authorized() })).json()) as {
    friendly_name: string
  }
  expect(seen.friendly_name).toBe('größe 日本')
  await server.stop()
})

test.each([false, true])(
  'the user and an untrusted project choose the segments of the status line; server: %s',
  async (served) => {
    const fixture = createTestHome()
    fixture.put(
      join(fixture.env.BATON_HOME!, 'config.yaml'),
      'status_line: {segments: [model, gauge, cost], style: text}\n',
    )
    if (served) await fixture.start(['serve', '--port', '0', '--json']).firstLine()
    const shown = async (used: number): Promise<string> => {
      const input = statusLineJson({ session: A, project: fixture.project, used, durationMs: used })
      return (await fixture.run(['statusline'], { input, env: { NO_COLOR: '1', BATON_SEAT: 'api' } })).stdout
    }
    expect(await shown(118_600)).toBe('opus-4-6 · 71% of compaction point · $0.35\n')
    fixture.put(join(fixture.project, 'baton.yaml'), 'status_line: {segments: [seat, tokens]}\nenabled: false\n')
    if (served) await until('the server reads the project file', async () => (await shown(118_600)).startsWith('api'))
    expect(await shown(118_601)).toBe('api · 119k/~167k\n')
  },
)

test('statusline waits only briefly for a server that is gone or silent, and loses no reading', async () => {
  const fixture = createTestHome()
  const silentServer = createServer().listen(0, '127.0.0.1')
  await once(silentServer, 'listening')
  onTestFinished(() => void silentServer.close())
  for (const port of [9, (silentServer.address() as AddressInfo).port]) {
    fixture.put(join(fixture.env.BATON_HOME!, 'run', 'server'), `${port} - ${process.pid}\n`)
    const used = 50_000 + port
    const ran = await fixture.run(['statusline'], {
      input: statusLineJson({ session: A, project: fixture.project, used, durationMs: port }),
    })
    expect(ran).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('of compaction point') })
    expect((await fixture.run(['show', A, '--json'])).json.used_tokens).toBe(used)
  }
})

test('input that is empty, not JSON or without a session prints nothing and exits with 0', async () => {
  const fixture = createTestHome()
  for (const input of ['', 'not json', '[]', '{"session_id": 5}', '{"cwd": "/x"}']) {
    expect(await fixture.run(['statusline'], { input })).toMatchObject({ code: 0, stdout: '', stderr: '' })
  }
  expect((await fixture.run(['statusline', '--json'])).json).toEqual({ text: '', session_id: null })
})

test('statusline stops waiting for an input that is never closed', async () => {
  const fixture = createTestHome()
  const child = spawn(process.execPath, [BATON, 'statusline'], { env: fixture.env, stdio: ['pipe', 'pipe', 'pipe'] })
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
})

test('a store that cannot be used is shown in the status line, and the exit code stays 0', async () => {
  const fixture = createTestHome()
  fixture.put(join(fixture.env.BATON_HOME!, 'baton.db'), 'not a database '.repeat(100))
  const ran = await fixture.run(['statusline'], {
    input: statusLineJson({ session: A, project: fixture.project, used: 1 }),
  })
  expect(ran).toMatchObject({ code: 0, stdout: 'baton: the store cannot be used; run baton doctor\n', stderr: '' })
})

test('BATON_DISABLE and the installed status line keep statusline silent', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used: 20_000 }))
  const input = statusLineJson({ session: A, project: fixture.project, used: 118_600 })
  for (const name of ['BATON_DISABLE', 'BATON_IN_STATUS_LINE']) {
    expect(await fixture.run(['statusline'], { input, env: { [name]: '1' } })).toMatchObject({ code: 0, stdout: '' })
  }
  expect((await fixture.run(['show', A, '--json'])).json.used_tokens).toBe(20_000)
})
