// Fills a disk while hooks run, then frees space again.
// node test/soak/full-disk.mjs
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleSource } from '../../bench/from-source.mjs'
import { makeMachine, pause, temporary } from '../../bench/machine.mjs'
import { runClient } from '../../bench/run-client.mjs'
import { fakeClient } from './fake-client.mjs'
import { untilNobody } from './processes.mjs'
import { end, prove } from './prove.mjs'
import { lookInto } from './store.mjs'

const SESSION = 'f0110000-0000-4000-8000-000000000000'
const disk = join(temporary('disk'), 'mounted')
mkdirSync(disk)
try {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=700', 'tmpfs', disk], { stdio: 'ignore' })
} catch {
  console.log('full disk: left out, a small disk cannot be mounted here (run as root on Linux)')
  end()
}
// Unmount before the folders are removed.
process.prependListener('exit', () => execFileSync('umount', ['-l', disk], { stdio: 'ignore' }))

const machine = makeMachine('disk', { batonHome: join(disk, 'baton') })
console.log('full disk: Baton on a disk of 6 MB')
const client = fakeClient(machine, SESSION)
let used = 20_008
const batches = async (count) => {
  const runs = []
  for (let i = 0; i < count; i++) {
    used += 500
    runs.push(await client.batch({ used, size: 900 }), await client.status({ used }))
  }
  return runs
}
const figure = () => JSON.parse(machine.baton('show', SESSION, '--json')).used_tokens
const slowest = (runs) => `slowest ${Math.round(Math.max(...runs.map((one) => one.ms)))} ms`
const quiet = (runs) => runs.every((run) => run.code === 0 && run.stderr === '')

await batches(5)
await untilNobody(machine.batonHome, 40_000)
prove(figure() === used, 'with room, readings arrive', `${figure()} tokens`)

fill()
const during = await batches(10)
prove(quiet(during), 'full, every hook ends with 0 and in silence', slowest(during))
prove(
  during.every(
    (run) =>
      !run.stdout.includes('undefined') && (run.stdout === '' || run.stdout.startsWith('{') || run.stdout.length < 400),
  ),
  'and says nothing odd',
)
const { startModel } = await import(await bundleSource(['model/model.ts']))
const model = await startModel({
  script: { steps: [{ bash: 'echo {{n}}', used: 60_008, grow: 15_000, repeat: 6 }, 'Done.'] },
})
const run = await runClient(machine, model.url)
prove(
  run.code === 0 && run.stdout.trim() === 'Done.' && run.stderr === '',
  'the real client works on undisturbed',
  `code ${run.code} ${run.stderr}`,
)
await model.close()

await again('with room again, readings arrive again')
const server = await machine.serve()
fill()
const asked = await batches(10)
prove(quiet(asked), 'full again while a server runs: hooks end with 0 and in silence', slowest(asked))
await again('the server goes on once there is room')
await server.stop()
prove(lookInto(machine.batonHome).integrity === 'ok', 'the store is whole')
machine.remove()
end()

async function again(what) {
  rmSync(join(disk, 'ballast'))
  await batches(5)
  // An engine may still be processing the last batch.
  await pause(500)
  prove(figure() === used, what, `${figure()} tokens`)
}

function fill() {
  for (const size of [1024 * 1024, 64 * 1024, 4 * 1024, 1]) {
    try {
      for (;;) writeFileSync(join(disk, 'ballast'), 'x'.repeat(size), { flag: 'a' })
    } catch {
      // The disk is full to within this size.
    }
  }
  if (!readdirSync(disk).includes('ballast')) throw new Error('the disk did not fill')
}
