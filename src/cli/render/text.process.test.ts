import { expect, test } from 'vitest'
import { createTestHome } from '../../testing/cli-home.js'

test.each([['install', '--dry-run'], ['uninstall', '--dry-run'], ['messages'], ['events'], ['notify', 'test']])(
  'baton %s %s breaks its lines between words on a terminal of 80 columns',
  async (...words) => {
    const fixture = createTestHome()
    fixture.put(
      `${fixture.env.BATON_HOME}/config.yaml`,
      JSON.stringify({ notify: [{ command: `echo ${'x '.repeat(60)}; exit 3` }] }),
    )
    const args = words.filter((word) => word !== undefined)
    const { stdout, stderr } = await fixture.run(args, { columns: 80 })
    // A path is never broken, so it may be longer than the terminal is wide.
    const long = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line.length > 80 && line.trim().split(/ {1,}/).length > 2)
    expect(long).toEqual([])
    const whole = await fixture.run(args)
    const wordsOf = (text: string) => text.split(/\s+/).filter((word) => !/^\d+$/.test(word))
    expect(wordsOf(stdout + stderr)).toEqual(wordsOf(whole.stdout + whole.stderr))
  },
)
