import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome } from '../../testing/cli-home.js'

const step = (input: string, result: string, failed = false) => ({ calls: [{ input, result, failed }], used: 30_000 })
const SCRIPT = {
  sessions: [
    [step('ls src', 'parser.ts\nprinter.ts'), step('npm test', 'Exit code 1', true), { text: 'The parser works.' }],
  ],
}

function place() {
  const fixture = createTestHome()
  fixture.env.BATON_JOB_SCRIPT = fixture.put(join(fixture.dir, 'script.json'), JSON.stringify(SCRIPT))
  const args = ['run', '--prompt', 'Mend it.', '--runtime', 'scripted', '--check', 'true']
  return { fixture, args }
}

test('without a terminal, run prints the planned checks and a plain line with elapsed time for each step', async () => {
  const { fixture, args } = place()
  const { code, stdout } = await fixture.run(args)
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  const has = (line: RegExp): number => lines.filter((one) => line.test(one)).length
  expect([
    has(/^\d\d:\d\d:\d\d 1 check must pass: true$/),
    has(/^\d\d:\d\d:\d\d ✓ Bash ls src( \(\d+ s\))?$/),
    has(/^\d\d:\d\d:\d\d ✗ Bash npm test( \(\d+ s\))?: Exit code 1$/),
    has(/^\d+:\d\d ▰.* step /),
  ]).toEqual([1, 1, 1, expect.any(Number)])
  expect(lines.find((line) => line.includes('completed:'))).toMatch(/3 steps.*, \d+:\d\d of work$/)
  // No redraws and no colours, because the output may go to a file.
  expect(stdout).not.toMatch(/[\r\u001b]/)
})

test('run --verbose prints the agent’s texts, every call and every result', async () => {
  const { fixture, args } = place()
  const { stdout } = await fixture.run([...args, '--verbose'])
  for (const part of ['→ Bash ls src', '← parser.ts\n           printer.ts\n', '✗ Exit code 1', 'The parser works.'])
    expect(stdout).toContain(part)
  expect(stdout).not.toContain('✓ Bash ls src')
})

test('run --json prints one line, and run --quiet only the result of the job', async () => {
  const { fixture, args } = place()
  expect((await fixture.run([...args, '--json'])).json).toMatchObject({ status: 'completed', steps: 3 })
  const { stdout } = await fixture.run([...args, '--quiet'])
  expect(stdout).not.toContain('✓ Bash')
  expect(stdout).toContain('completed')
})
