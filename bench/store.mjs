import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { interleave, rowOf } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { BATON, makeMachine, temporary } from './machine.mjs'
import { hookEnvironment, statusLine } from './samples.mjs'
import { makeStopwatch } from './stopwatch.mjs'

export const about = 'a process that opens the store, takes one signal and ends'

const ENGINE = BATON.replace(/baton\.mjs$/, 'hook-engine.cjs')
const SESSION = 'b5d1c0de-0000-4000-8000-000000000001'

export async function run({ quick }) {
  const rounds = quick ? 10 : 40
  const watch = makeStopwatch(temporary('store'))
  const young = makeMachine('young')
  const old = makeMachine('old')
  const fresh = makeMachine('fresh')
  try {
    await fill(old, quick ? 20_000 : 200_000)
    let n = 0
    const take = (machine) => {
      n++
      return watch.time([process.execPath, ENGINE, 'status-line'], {
        env: {
          ...machine.env,
          ...hookEnvironment({ sessionId: SESSION, cwd: machine.project }),
          BATON_SIGNAL: `${SESSION}.${Date.now()}.${n}.1.status-line`,
        },
        payload: statusLine({
          sessionId: SESSION,
          transcript: '/nowhere.jsonl',
          cwd: machine.project,
          used: 20_008 + n * 10,
        }),
        cwd: machine.project,
      })
    }
    const samples = await interleave(
      [
        { name: 'node -e 0', run: () => watch.time([process.execPath, '-e', '0'], { env: young.env }) },
        { name: 'one signal', run: () => take(young) },
        { name: 'one signal, store of many', run: () => take(old) },
        {
          name: 'one signal, store made anew',
          run: () => {
            for (const end of ['', '-wal', '-shm']) rmSync(join(fresh.batonHome, `baton.db${end}`), { force: true })
            return take(fresh)
          },
        },
      ],
      { rounds, until: Date.now() + 120_000 },
    )
    const ms = (name) => samples.get(name).map((one) => one.ms)
    const mid = (name) => rowOf('', ms(name)).value
    return [
      rowOf('node -e 0', ms('node -e 0')),
      rowOf('one signal', ms('one signal'), { bound: 1.7 * mid('node -e 0'), rule: '1.7x node' }),
      rowOf('one signal, store of many', ms('one signal, store of many'), {
        bound: 1.2 * mid('one signal'),
        rule: '1.2x a small store',
        note: sizeOf(old),
      }),
      rowOf('one signal, store made anew', ms('one signal, store made anew')),
    ]
  } finally {
    for (const machine of [young, old, fresh]) machine.remove()
  }
}

/** Fills a store with 1,000 sessions and many readings, as after months of use. */
async function fill(machine, readings) {
  const { openApp, loadConfig } = await import(await bundleSource(['engine/open-engine.ts', 'config/load-config.ts']))
  const app = openApp({ env: machine.env, loadConfig, resident: true })
  const signals = Array.from({ length: readings }, (_, i) => {
    const sessionId = `${String(i % 1000).padStart(8, '0')}-0000-4000-8000-000000000000`
    const body = statusLine({
      sessionId,
      transcript: '/nowhere.jsonl',
      cwd: machine.project,
      used: 20_008 + Math.floor(i / 1000) * 200,
    })
    return {
      raw: { agent: 'claude-code', kind: 'status-line', body, env: {}, at: Date.now() },
      options: { deliver: 'keep' },
    }
  })
  for (let i = 0; i < signals.length; i += 500) app.engine.takeAll(signals.slice(i, i + 500))
  app.close()
}

function sizeOf(machine) {
  const bytes = readFileSync(join(machine.batonHome, 'baton.db')).length
  return `${Math.round(bytes / 1024 / 1024)} MB, ${
    execFileSync(process.execPath, [BATON, 'status', '--all', '--json'], { env: machine.env, maxBuffer: 1 << 28 })
      .toString()
      .split('"session_id"').length - 1
  } sessions`
}
