// Opens real browsers among the simulated clients and measures what a user sees and does in them.
import { keyOf, launchBrowser, openPage } from '../../bench/open-page.mjs'

const SEARCH = "document.querySelector('input[type=search]').value"
const ROWS = "document.querySelectorAll('.seat').length"

/** Starts browsers with an event stream each. Null when this machine has no browser. */
export async function openBrowsers(machine, server, count) {
  const browser = await launchBrowser()
  if (browser === null) return null
  const key = await keyOf(machine, server)
  const faults = []
  const pages = []
  for (let n = 0; n < count; n++) {
    const page = await openPage(browser, server.url, key)
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.locator('.seat').first().waitFor()
    pages.push(page)
  }
  return {
    count,
    faults,
    /** Measures user actions in milliseconds, each until the frame that shows its result. */
    async interact(rounds) {
      const times = []
      const time = async (page, holds, act) => {
        await page.evaluate(`watchNext('keydown', () => ${holds})`)
        await act()
        times.push(await page.evaluate('watched'))
      }
      for (let n = 0; n < rounds; n++) {
        const page = pages[n % count]
        await page.keyboard.press('/')
        await time(page, `${SEARCH} === 'p' && ${ROWS} > 0`, () => page.keyboard.press('p'))
        await time(page, `${SEARCH} === ''`, () => page.keyboard.press('Backspace'))
        await page.keyboard.press('Escape')
        await page.evaluate('document.activeElement.blur()')
        await time(page, "document.activeElement?.closest('.seat') !== null", () => page.keyboard.press('j'))
        await page.evaluate('document.activeElement.blur()')
      }
      return times
    },
    /** Returns the rows and figures that each browser shows. */
    shown: () =>
      Promise.all(
        pages.map((page) =>
          page.evaluate(
            "[...document.querySelectorAll('.seat')].map((seat) => [seat.querySelector('.seat-name').title, " +
              "seat.querySelector('.gauge-tokens')?.title ?? ''])",
          ),
        ),
      ),
    status: () => Promise.all(pages.map((page) => page.locator('.connection').getAttribute('data-status'))),
    stop: () => browser.close(),
  }
}
