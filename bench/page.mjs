import { readdirSync, statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { row, rowOf } from './figures.mjs'
import { BATON, makeMachine, pause } from './machine.mjs'
import { CHROMIUM, keyOf, launchBrowser, openPage } from './open-page.mjs'
import { fillCrowd, folderOf, idOf, statusOf, usedBy } from './page-crowd.mjs'

export const about = 'the page in a real browser: 500 sessions, one of them with 50,000 readings'

const [SESSIONS, READINGS] = [500, 50_000]

export async function run({ quick, note }) {
  const browser = await launchBrowser()
  if (browser === null) {
    note(`  needs a browser (${CHROMIUM}, or BATON_CHROMIUM): left out`)
    return []
  }
  const rounds = quick ? 3 : 9
  const machine = makeMachine('page')
  await fillCrowd(machine, { sessions: SESSIONS, readings: READINGS })
  const server = await machine.serve()
  try {
    const key = await keyOf(machine, server)
    const open = (path) => openPage(browser, `${server.url}${path}`, key)
    const load = `load ${loadavg()[0].toFixed(1)}`
    const [paint, list, curve] = [[], [], []]
    for (let n = 0; n < rounds; n++) {
      await visit(open('/'), async (page) => {
        await page.locator('.seat').first().waitFor()
        paint.push(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        list.push(await page.evaluate('performance.now()'))
      })
      await visit(open(`/sessions/${idOf(0)}`), async (page) => curve.push(await page.evaluate('drawn')))
    }
    const quiet = await interact(open, rounds)
    const pouring = pour(server)
    const busy = await interact(open, rounds)
    await pouring.stop()
    const tell = (times, when) =>
      Object.entries(times).map(([name, values]) =>
        rowOf(`${name}${when}`, values, { bound: 100, rule: 'to the frame that shows it' }),
      )
    return [
      rowOf('first paint, nothing cached', paint, { bound: 1_000, rule: '1 s', note: load }),
      rowOf('the first rows of 500', list),
      row('JavaScript of all pages, compressed', compressed() / 1_000, { unit: 'kB', bound: 200 }),
      rowOf('50,000 readings, from their last byte to the curve', curve, { bound: 300 }),
      ...tell(quiet, ''),
      ...tell(busy, `, ${RATE} signals a second`),
    ]
  } finally {
    await browser.close()
    await server.stop()
    machine.remove()
  }
}

/** User actions, each measured until the frame that shows its result. */
async function interact(open, rounds) {
  const times = {}
  const time = async (page, name, kind, holds, act) => {
    await page.evaluate(`watchNext(${JSON.stringify(kind)}, () => ${holds})`)
    await act()
    const ms = await page.evaluate('watched')
    times[name] ??= []
    times[name].push(ms)
  }
  await visit(open('/'), async (page) => {
    await page.locator('.seat').first().waitFor()
    await pause(500)
    const focus = "document.activeElement?.closest('[role=listitem]')?.getAttribute('aria-posinset')"
    const size = "document.querySelector('[role=listitem]')?.getAttribute('aria-setsize')"
    const typed = "document.querySelector('input[type=search]').value"
    const first = "document.querySelector('.seat-name')?.textContent"
    for (let n = 0; n < rounds; n++) {
      await page.keyboard.press('/')
      for (const [letter, left] of [
        ['t', 500],
        ['-', 500],
        ['4', 100],
        ['2', 10],
      ])
        await time(
          page,
          'a letter of the search',
          'keydown',
          `${typed}.endsWith('${letter}') && ${size} === '${left}'`,
          () => page.keyboard.press(letter),
        )
      for (const left of [100, 500])
        await time(page, 'a letter taken back', 'keydown', `${size} === '${left}'`, () =>
          page.keyboard.press('Backspace'),
        )
      for (const _ of 't-') await page.keyboard.press('Backspace')
      await page.keyboard.press('Escape')
      const order = page.getByRole('combobox', { name: 'Order' })
      const lowest = `${first} === '${folderOf(0).slice('/srv/'.length)}'`
      await time(page, 'another order', 'change', lowest, () => order.selectOption('name'))
      await time(page, 'another order', 'change', `!(${lowest})`, () => order.selectOption('newest'))
      await page.evaluate('document.activeElement.blur()')
      for (let place = 1; place <= 5; place++)
        await time(page, 'the next row (j)', 'keydown', `${focus} === '${place}'`, () => page.keyboard.press('j'))
      await time(page, 'the row before (k)', 'keydown', `${focus} === '4'`, () => page.keyboard.press('k'))
      await page.evaluate('document.activeElement.blur()')
      await order.selectOption('name')
      await pause(100)
      await time(page, 'a row opened', 'click', "document.querySelector('article.session') !== null", () =>
        page.locator('.seat-name').nth(3).click(),
      )
      await time(page, 'back to the list', 'popstate', "document.querySelector('.seat') !== null", () => page.goBack())
      await order.selectOption('newest')
      await pause(100)
    }
  })
  await visit(open(`/sessions/${idOf(0)}`), async (page) => {
    await page.evaluate('drawn')
    const whole = "document.querySelector('[aria-label=Further]').disabled"
    for (let n = 0; n < rounds; n++) {
      const closer = page.getByRole('button', { name: 'Closer' })
      await time(page, 'the curve, closer', 'click', `!${whole}`, () => closer.click())
      await time(page, 'the curve, whole', 'click', whole, () =>
        page.getByRole('button', { name: 'All', exact: true }).click(),
      )
      const box = await page.locator('.curve-host .u-over').boundingBox()
      const told = "document.querySelector('.curve-reading') !== null"
      await time(page, 'a reading pointed at', 'mousemove', told, () =>
        page.mouse.move(box.x + 100 + 40 * n, box.y + 60),
      )
      await page.mouse.move(0, 0)
    }
  })
  return times
}

const RATE = 100

/** Sends signals of all sessions, as if every agent worked. Each session climbs slowly. */
function pour({ url, token }) {
  let [n, stopped] = [0, false]
  const asked = new Set()
  const timer = setInterval(() => {
    for (let i = 0; i < RATE / 10 && !stopped; i++) {
      const body = statusOf(n % SESSIONS, usedBy(n % SESSIONS) + Math.floor(n / SESSIONS) * 40)
      n++
      const headers = { Authorization: `Bearer ${token}` }
      const one = fetch(`${url}/signals/claude-code/status-line`, { method: 'POST', headers, body }).then((reply) =>
        reply.arrayBuffer(),
      )
      asked.add(one)
      one.catch(() => {}).then(() => asked.delete(one))
    }
  }, 100)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await Promise.allSettled(asked)
    },
  }
}

async function visit(opening, act) {
  const page = await opening
  try {
    await act(page)
  } finally {
    await page.context().close()
  }
}

function compressed() {
  const folder = join(dirname(BATON), 'web', 'assets')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.js.br'))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
