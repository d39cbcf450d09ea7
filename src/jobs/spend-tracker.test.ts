import { describe, expect, test } from 'vitest'
import { SpendTracker } from './spend-tracker.js'

const tokens = (input: number) => ({ input, output: 0, cacheCreation: 0, cacheRead: 0 })
const known = (input: number, costUsd: number | null = null) => ({ spend: tokens(input), costUsd })
const reported = (input: number, costUsd: number | null = null) => ({ usage: tokens(input), costUsd })

describe('the spend of a session', () => {
  test("the spend is the client's total if that exceeds its answers, as subagents and helpers cost too", () => {
    const spent = new SpendTracker(known(0))
    expect(spent.endTurn(known(100), reported(160, 0.2))).toEqual(known(160, 0.2))
    expect(spent.endTurn(known(200, 0.2), reported(190, 0.3))).toEqual(known(200, 0.3))
  })

  test('the spend is the last total when each client continues the total of the one before', () => {
    const spent = new SpendTracker(known(160, 0.2))
    expect(spent.endTurn(known(180, 0.2), reported(200, 0.25))).toEqual(known(200, 0.25))
  })

  test('the spend does not fall when a client was killed and the next one counts from zero', () => {
    const spent = new SpendTracker(known(0))
    spent.endTurn(known(100), reported(160, 0.5))
    spent.startClient(known(160, 0.5))
    expect(spent.endTurn(known(200, 0.5), reported(60, 0.1))).toEqual(known(200, 0.6))
    // Later totals are larger and include helpers again.
    expect(spent.endTurn(known(240, 0.6), reported(130, 0.3))).toEqual(known(270, 0.8))
  })

  test('the spend stays unchanged when the client reports nothing', () => {
    expect(new SpendTracker(known(10, 0.4)).endTurn(known(20, 0.4), reported(0, null))).toEqual(known(20, 0.4))
  })
})
