// Several processes update one session. No update is lost, and each level is crossed in one
// process only.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Tracker } from 'baton-cli'

const usage = { input_tokens: 90_000, output_tokens: 100 }

if (process.argv[2] === 'worker') {
  const tracker = Tracker.open({ session: 'example-02' })
  const crossed = []
  for (let i = 0; i < 10; i++) crossed.push(...tracker.updateUsage(usage).crossed)
  tracker.close()
  console.log(crossed.join())
} else {
  const worker = () => promisify(execFile)(process.execPath, [import.meta.filename, 'worker'])
  const runs = await Promise.all([worker(), worker(), worker(), worker()])
  const crossed = runs.map((run) => run.stdout.trim()).filter((text) => text !== '')
  const { answers, cumulative_input_tokens } = Tracker.open({ session: 'example-02' }).currentState()
  console.log(`${answers} answers counted, ${cumulative_input_tokens} input tokens spent`)
  console.log(`crossed: ${crossed.join(', ')}`)
}

// Prints:
// 40 answers counted, 3600000 input tokens spent
// crossed: notice
