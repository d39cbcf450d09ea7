// Invalid input throws an error that says what to do, and changes nothing.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatonError, Tracker } from 'baton-cli'

const tracker = Tracker.open({ session: 'example-08' })
for (const input_tokens of [-1, 0.5, Number.NaN]) {
  try {
    tracker.updateUsage({ input_tokens, output_tokens: 0 })
  } catch (error) {
    console.log(`${error.name}: ${error.message}`)
  }
}
console.log(tracker.currentState().answers)

const home = mkdtempSync(join(tmpdir(), 'baton-example-'))
writeFileSync(join(home, 'baton.db'), 'this was a database once, before the disk failed'.repeat(20))
try {
  Tracker.open({ home })
} catch (error) {
  console.log(
    error instanceof BatonError,
    error.message.includes('is damaged'),
    error.hint.includes('baton archive adopt'),
  )
}

// Prints:
// RangeError: input_tokens must be a whole number of tokens, not negative: -1
// RangeError: input_tokens must be a whole number of tokens, not negative: 0.5
// RangeError: input_tokens must be a whole number of tokens, not negative: NaN
// 0
// true true true
