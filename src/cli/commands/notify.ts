import { withOpenApp } from '../../app/open-app.js'
import { type TestedEntry, testEntries, testNotices } from '../../app/test-notices.js'
import { EXIT } from '../../lib/errors.js'
import { sanitizeName } from '../../lib/quote.js'
import { replaceControls } from '../../lib/replace-controls.js'
import type { Call, Cli, Command } from '../command.js'
import { wrap } from '../render/text.js'

export const notifyCommand: Command = {
  name: 'notify',
  summary: 'send a test notice to every configured target',
  usage: ['test'],
  about:
    'Notices reach you outside the client: by bell, desktop, command, webhook or ntfy. ' +
    'The key notify of the configuration lists the targets and their events: a level is reached, a brief waits for ' +
    'review, ' +
    'the client waits for permission, a job has ended, a usage limit is reached or reset, or no readings arrive.',
  options: {},
  actions: ['test'],
  forms: {
    test: {
      summary: 'send one notice to every target of your file and of this project',
      about:
        'Ignores the events and at_most_every of the targets. ' +
        'Exits with 1 if a target failed, and with 3 if none is configured. A bell without a terminal is skipped.',
      options: [],
    },
  },
  words: { min: 1, max: 1 },
  examples: [
    ["baton config set notify '[{via: ntfy, url: https://ntfy.sh/my-topic}]'", 'send notices to a phone'],
    ['baton notify test', 'check that notices arrive'],
    ['baton notify test --json', 'print the results for a script'],
  ],
  json: '{ok, entries: [{key, from, via, target, ok, skipped, detail, duration_ms}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  return sendTest(call, cli)
}

/** `baton notify test`: sends one notice through every configured entry. */
function sendTest(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, async (app) => {
    const { entries, ignored } = testEntries(app, cli)
    if (ignored !== null)
      cli.note(`${sanitizeName(ignored)} is not trusted, so its targets are not used. To accept it: baton trust.`)
    const tested = await testNotices(app, cli, entries)
    const ok = tested.every((one) => one.ok)
    cli.print(call.json ? JSON.stringify({ ok, entries: tested }) : tested.flatMap((one) => line(one, cli)).join('\n'))
    return ok ? EXIT.done : EXIT.failed
  })
}

function line({ key, from, target, ok, skipped, detail, duration_ms }: TestedEntry, { screen }: Cli): string[] {
  const { paint, columns } = screen
  const mark = skipped ? paint('–', 'dim') : ok ? paint('✓', 'green') : paint('✗', 'red')
  const result = skipped
    ? `skipped: ${replaceControls(detail)}`
    : ok
      ? `sent in ${duration_ms} ms`
      : `failed: ${replaceControls(detail)}`
  return wrap(
    `${mark} ${key} ${paint(`(${replaceControls(from)})`, 'dim')} ${replaceControls(target)}: ${result}`,
    columns,
    2,
  )
}
