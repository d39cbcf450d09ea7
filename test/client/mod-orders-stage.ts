import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { PLUGIN_NAME, pluginModuleFiles } from '../../src/agents/claude-code/mod/mod.js'
import { readOrderAnswer, writeOrder } from '../../src/agents/claude-code/orders.js'
import type { Order, OrderAnswer } from '../../src/contract/records/handoff.js'
import { type LogEntry, visibleTexts } from '../../src/model/log.js'
import { type Model, startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { type Home, makeHome } from '../harness/home.js'
import { startTape, type Tape } from './claude-code/tape.js'

/** A client with the plugin module and recording hooks, without the rest of Baton. */
export interface OrderStage {
  home: Home
  model: Model
  tape: Tape
  liveDir: string
  /** Writes an order for a session, with defaults for omitted fields, and returns it. */
  order(session: string, change?: Partial<Order>): Order
  answer(order: Order): OrderAnswer | null
  /**
   * The reason why the plugin module delays the order, which it writes beside it. Null when it has
   * not seen the order or has no reason.
   */
  hindrance(order: Order): string | null
  /** Returns the requests of the main conversation that contain a text. */
  requestsWith(text: string): LogEntry[]
  /** Number of sessions that the client began after /clear. */
  clears(): number
}

export const PROMPT = '[baton] Go on with the parser: next step write the tokenizer.'
export const REQUEST = '[baton] Please write a handoff brief as your answer.'

let orders = 0

/** Starts the stage. `change` edits the plugin module's code before the client loads it. */
export async function orderStage(
  script: ScriptInput,
  change: (program: string) => string = (program) => program,
): Promise<OrderStage> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const liveDir = path.join(home.batonHome, 'live')
  mkdirSync(liveDir, { recursive: true })
  for (const file of pluginModuleFiles({ liveDir, requestPrompt: REQUEST })) {
    const at = path.join(home.configDir, 'skills', PLUGIN_NAME, file.path)
    mkdirSync(path.dirname(at), { recursive: true })
    writeFileSync(at, file.path.endsWith('register.js') ? change(file.text) : file.text)
  }
  const tape = startTape(home, liveDir)
  return {
    home,
    model,
    tape,
    liveDir,
    order: (session, change = {}) => {
      const order: Order = {
        format: 1,
        orderId: `order-${process.pid}-${++orders}`,
        session,
        do: 'hand-off',
        prompt: PROMPT,
        until: Date.now() + 600_000,
        ...change,
      }
      writeOrder(liveDir, order)
      return order
    },
    hindrance: ({ session, orderId }) => {
      const seen = path.join(liveDir, `${session}.${orderId}.seen.json`)
      return existsSync(seen) ? (/"by":"(\w+)"/.exec(readFileSync(seen, 'utf8'))?.[1] ?? null) : null
    },
    answer: (order) => readOrderAnswer(liveDir, order.session, order.orderId),
    requestsWith: (text) =>
      model.log().filter((entry) => entry.kind === 'main' && visibleTexts(entry).some((one) => one.includes(text))),
    clears: () =>
      tape.recorded().filter(({ event, body }) => event === 'SessionStart' && body.source === 'clear').length,
  }
}
