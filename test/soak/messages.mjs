// Sends messages from many senders to seats whose client is killed repeatedly, with and without a
// server.
// node test/soak/messages.mjs [--messages N] [--senders N] [--seats N] [--seconds N]
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { bundleSource } from '../../bench/from-source.mjs'
import { clientBinary, makeMachine, pause, start } from '../../bench/machine.mjs'
import { untilNobody } from './processes.mjs'
import { end, prove } from './prove.mjs'

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000' },
    senders: { type: 'string', default: '20' },
    seats: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '180' },
    lanes: { type: 'string', default: '4' },
  },
})
const count = (name) => Number(values[name])
const MODES = ['sequential', 'important', 'urgent']
const CLIENT = {
  ANTHROPIC_API_KEY: 'sk-fake',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  IS_SANDBOX: '1',
}
const one = (list) => list[Math.floor(Math.random() * list.length)]

const rooms = await import(
  await bundleSource([
    ...[
      'engine/open-engine.ts',
      'engine/rare-work.ts',
      'config/load-config.ts',
      'engine/messages/send-message.ts',
      'model/model.ts',
      'model/log.ts',
    ],
  ])
)
const turn = [{ bash: 'true', repeat: 3 }, 'Done.']
const model = await rooms.startModel({
  script: { start: 20_008, grow: 10, delay_ms: 40, steps: Array.from({ length: 300 }, () => turn).flat() },
  keepBytes: 4 * 2 ** 30,
})

// A hook of the user delays the client, so that many kills fall between Baton's answer and the next
// request.
const slow = [{ hooks: [{ type: 'command', command: 'sleep 0.2' }] }]
const settings = { hooks: { PostToolBatch: slow, UserPromptSubmit: slow, Stop: slow } }
const machines = [makeMachine('messages', { settings }), makeMachine('messages', { settings })]
const server = await machines[0].serve()
const apps = machines.map(({ env }) => rooms.openApp({ env, loadConfig: rooms.loadConfig, rareWork: () => rooms }))
const seats = Array.from({ length: count('seats') }, (_, n) => ({
  name: `seat-${n}`,
  session: randomUUID(),
  machine: machines[n % 2],
  app: apps[n % 2],
  seatId: null,
}))
let killed = 0
let runs = 0
const troubles = []

/**
 * Runs one turn of a seat's client. `kill` ends it after so many milliseconds or at its first
 * message. Null to let it finish.
 */
function runSeat({ name, session, machine, app, seatId }, first, kill) {
  runs++
  const which = first ? ['--session-id', session] : ['--resume', session]
  const client = start(
    clientBinary(),
    ['-p', 'go on', ...which, '--model', 'claude-opus-4-6', '--dangerously-skip-permissions'],
    {
      cwd: machine.project,
      env: { ...machine.env, ...CLIENT, ANTHROPIC_BASE_URL: model.url, BATON_SEAT: name },
      stdio: 'ignore',
    },
  )
  const end = () => client.kill('SIGKILL')
  const timer = setTimeout(end, typeof kill === 'number' ? kill : 120_000)
  const given = () => app.store.openMessages(seatId).some(({ status }) => status === 'sent') && end()
  const watch = kill === 'when given' ? setInterval(given, 10) : null
  return new Promise((resolve) => {
    client.once('close', (code) => {
      clearTimeout(timer)
      clearInterval(watch)
      if (code === null) killed++
      if (kill === null && code !== 0) troubles.push(`a client of ${name} ended with ${code}`)
      resolve()
    })
  })
}

function howToKill() {
  if (sending === 0 || Math.random() < 0.3) return null
  return Math.random() < 0.5 ? 'when given' : 300 + Math.random() * 4_000
}

const open = ({ app, seatId }) => app.store.openMessages(seatId).length

await Promise.all(seats.map((seat, n) => pause(Math.floor(n / 2) * 800).then(() => runSeat(seat, true, null))))
for (const seat of seats) {
  seat.app.drain()
  seat.seatId = seat.app.store.seatByName(seat.name).seatId
}

const until = Date.now() + count('seconds') * 1000
let sending = count('senders')
const letters = []
const senders = Array.from({ length: sending }, async (_, n) => {
  const sender = `sender-${n}`
  const own = Math.floor((count('messages') + n) / count('senders'))
  for (let i = 0; i < own; i++) {
    const left = until - Date.now()
    await pause(Math.random() * 1.6 * Math.max(0, left / (own - i)))
    const [seat, mode] = [one(seats), one(MODES)]
    const text = Math.random() < 0.2 ? 'the same words as before' : `number ${i} of ${sender}`
    const letter = { seatId: seat.seatId, sender, mode, text, file: null }
    const { message_id } = rooms.sendMessage(seat.app.engine.deps, letter)
    letters.push({ id: message_id, sender, mode, seat, n: letters.length })
  }
  sending--
})

/**
 * Runs a seat's turns until all messages are read, killing clients at random while any is being
 * sent.
 */
async function keepAlive(seat) {
  let idleTicks = 0
  while (sending > 0 || open(seat) > 0) {
    if (sending === 0 && ++idleTicks > 12) return
    if (open(seat) === 0) {
      await pause(100)
      continue
    }
    await lane(() => runSeat(seat, false, howToKill()))
  }
}
let busy = 0
async function lane(work) {
  while (busy >= count('lanes')) await pause(20)
  busy++
  try {
    await work()
  } finally {
    busy--
  }
}
await Promise.all([...senders, ...seats.map(keepAlive)])
for (const app of apps) app.drain({ wait: true })

const stored = new Map(apps.flatMap((app) => app.store.messages({ limit: 1_000_000 })).map((m) => [m.message_id, m]))
/**
 * Returns for each message its first position, its repeated deliveries and its most copies in one
 * request.
 */
const seen = new Map()
const before = new Map()
for (const entry of model.log().filter(({ kind }) => kind === 'main')) {
  const found = new Map()
  const text = rooms.visibleTexts(entry).join('\n')
  for (const { 1: id, index } of text.matchAll(/\(message (msg_\w+)\)/g))
    found.set(id, [...(found.get(id) ?? []), index])
  for (const [id, places] of found) {
    const known = seen.get(id) ?? { first: [entry.n, places[0]], came: 0, most: 0 }
    // A killed client loses unwritten lines, so a message that reappears was delivered again.
    if (places.length > (before.get(entry.session_id)?.get(id)?.length ?? 0)) known.came++
    known.most = Math.max(known.most, places.length)
    seen.set(id, known)
  }
  before.set(entry.session_id, found)
}

const named = (list) => list.slice(0, 5).map(({ id, seat, mode }) => `${id} (${seat.name}, ${mode})`)
const lost = letters.filter(({ id }) => !seen.has(id))
const notTold = letters.filter(({ id }) => stored.get(id)?.status !== 'delivered')
const twice = letters.filter(({ id }) => (seen.get(id)?.came ?? 0) > 1 && !stored.get(id)?.repeated)
const again = letters.filter(({ id }) => stored.get(id)?.repeated)
const doubled = again.filter(({ id }) => (seen.get(id)?.came ?? 0) > 1)
const lines = Map.groupBy
  ? Map.groupBy(letters, lineOf)
  : letters.reduce((all, l) => all.set(lineOf(l), [...(all.get(lineOf(l)) ?? []), l]), new Map())
function lineOf({ sender, mode, seat }) {
  return `${sender} ${mode} ${seat.name}`
}
const disordered = [...lines.values()].flatMap((line) =>
  line.slice(1).filter((letter, i) => {
    const [a, b] = [seen.get(line[i].id)?.first, seen.get(letter.id)?.first]
    return a && b && (b[0] < a[0] || (b[0] === a[0] && b[1] < a[1]))
  }),
)
console.log(
  `messages: ${letters.length} from ${count('senders')} senders to ${seats.length} seats, ${runs} runs of the ` +
    `client, ${killed} killed`,
)
prove(troubles.length === 0, 'every client that was let alone ended well', troubles.slice(0, 3).join('; '))
prove(killed >= seats.length, 'clients were killed', String(killed))
prove(lost.length === 0, 'the model was asked with every message', named(lost).join())
prove(notTold.length === 0, 'every message is known to be delivered', named(notTold).join())
prove(
  twice.length === 0,
  'none came twice without being marked as repeated',
  `${again.length} repeated, ${doubled.length} of them had been read ${named(twice).join()}`,
)
prove(disordered.length === 0, 'within sender and mode they came in order', named(disordered).join())
await server.stop()
for (const app of apps) app.close()
for (const machine of machines) {
  prove(await untilNobody(machine.batonHome, 40_000), 'nothing is left running')
  machine.remove()
}
await model.close()
end()
