// Levels come from the configuration. BATON_PRESETS=mpm is the same as `presets: [mpm]` in
// config.yaml.
import { Tracker } from 'baton-cli'

const tracker = Tracker.open({
  session: 'example-03',
  model: 'claude-opus-4-6',
  env: { ...process.env, BATON_PRESETS: 'mpm' },
})

for (const input_tokens of [100_000, 120_000, 145_000, 152_000, 90_000, 160_000]) {
  const { crossed } = tracker.updateUsage({ input_tokens, output_tokens: 200 })
  const note = crossed.length > 0 ? `, reached ${crossed.join(' and ')} for the first time` : ''
  console.log(
    `${input_tokens}: ${tracker.checkThresholds() ?? 'no level'}` +
      `${tracker.shouldAutoPause() ? ', time to hand off' : ''}${note}`,
  )
}
tracker.close()

// Prints:
// 100000: no level
// 120000: caution, reached caution for the first time
// 145000: warning, reached warning for the first time
// 152000: auto_pause, time to hand off, reached auto_pause for the first time
// 90000: no level
// 160000: critical, time to hand off, reached critical for the first time
