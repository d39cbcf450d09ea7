import { expect, onTestFinished, test } from 'vitest'
import { findPastedText, readComposer } from '../../src/agents/claude-code/composer.js'
import { readRegisteredClient } from '../../src/agents/claude-code/registry.js'
import type { Terminal } from '../../src/contract/terminal.js'
import { pastePrompt, removeLeftText, typeSlashCommand, whyCannotTypeNow } from '../../src/delivery/channels/tmux.js'
import { readPane } from '../../src/delivery/channels/tmux-pane.js'
import { visibleTexts } from '../../src/model/log.js'
import { startModel } from '../../src/model/model.js'
import { makeHome } from '../harness/home.js'
import { mainRequests } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

test('only text that a killed driver left in the composer is submitted or removed', async () => {
  const model = await startModel({ script: { rest: 'Done.' } })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const tui = await startTui(home, { model: 'claude-opus-4-6' })
  const at: Terminal = {
    live: () => readRegisteredClient(home.configDir, tui.pid),
    composer: readComposer,
    findPasted: findPastedText,
  }
  const composer = async () => {
    const look = (await readPane({ socket: tui.socket, pane: tui.pane }))!
    const now = readComposer(look.screen, look.cursor)
    return now.state === 'draft' ? now.text : now.state
  }
  const shows = (wanted: string) => until(`the composer shows ${wanted}`, async () => (await composer()) === wanted)
  await shows('empty')
  const session = tui.sessionId()!
  const target = { sessionId: session, mayStand: true }

  await tui.type('/clear it')
  await shows('/clear it')
  expect(await whyCannotTypeNow(at, '/clear', target)).toMatchObject({ why: 'draft', detail: '/clear it' })
  expect(await removeLeftText(at, '/clear', target)).toBe(false)
  expect(await typeSlashCommand(at, '/clear', target)).toMatchObject({ sent: false, why: 'draft' })
  expect(await composer()).toBe('/clear it')
  await tui.key('C-u')
  await shows('empty')

  await tui.type('/clear')
  await shows('/clear')
  expect(await whyCannotTypeNow(at, '/clear', { sessionId: session })).toMatchObject({ why: 'draft' })
  expect(await removeLeftText(at, '/clear', target)).toBe(true)
  await shows('empty')
  expect(await removeLeftText(at, '/clear', target)).toBe(false)

  // Simulate a client that draws the composer in an unknown way.
  expect(await pastePrompt({ ...at, findPasted: () => null }, '[baton] go on', target)).toMatchObject({
    sent: false,
    why: 'not-taken',
    left: 'nothing',
  })
  await shows('empty')

  await tui.type('[baton] go on')
  await shows('[baton] go on')
  expect(await whyCannotTypeNow(at, '[baton] go on', target)).toBeNull()
  const pastedAt = Date.now()
  expect(await pastePrompt(at, '[baton] go on', target)).toEqual({ sent: true })
  await model.waitFor((entry) => entry.kind === 'main')
  expect(mainRequests(model).map((entry) => visibleTexts(entry).at(-1))).toEqual(['[baton] go on'])
  await tui.waitTurnEnd(pastedAt)

  await tui.type('/clear')
  await shows('/clear')
  expect(await typeSlashCommand(at, '/clear', target)).toEqual({ sent: true })
  await until('another session', () => tui.sessionId() !== session)
})
