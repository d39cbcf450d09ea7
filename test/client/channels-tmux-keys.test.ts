import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { findPastedText, readComposer } from '../../src/agents/claude-code/composer.js'
import { readRegisteredClient } from '../../src/agents/claude-code/registry.js'
import type { Terminal } from '../../src/contract/terminal.js'
import { pastePrompt } from '../../src/delivery/channels/tmux.js'
import { readPane } from '../../src/delivery/channels/tmux-pane.js'
import { visibleTexts } from '../../src/model/log.js'
import { startModel } from '../../src/model/model.js'
import { makeHome } from '../harness/home.js'
import { mainRequests } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const ROUNDS = 5

test('a key that the user presses just before Baton’s Enter is never submitted with Baton’s text', async () => {
  const model = await startModel({ script: { rest: 'Done.' } })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const tui = await startTui(home, { model: 'claude-opus-4-6' })
  // `send-keys` bypasses the terminal, so the user's keys are typed into an attached tmux client.
  const person = spawn('script', ['-qfc', `tmux -S ${tui.socket} attach`, '/dev/null'], {
    env: { ...home.env, TERM: 'xterm-256color' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  onTestFinished(() => void person.kill())
  const composer = async () => {
    const look = await readPane({ socket: tui.socket, pane: tui.pane })
    return look && readComposer(look.screen, look.cursor)
  }
  const holds = async (text: string): Promise<boolean> => {
    const now = await composer()
    return now?.state === (text === '' ? 'empty' : 'draft') && (now.state !== 'draft' || now.text === text)
  }
  await until(
    'the person’s keys arrive',
    async () => {
      person.stdin.write('q')
      return (await composer())?.state === 'draft'
    },
    { every: 500 },
  )

  let unsent = 0
  for (let round = 0; round < ROUNDS; round++) {
    await until(
      'an empty composer',
      async () => {
        if (await holds('')) return true
        await tui.key('C-u')
        return false
      },
      { every: 300 },
    )
    const text = `[baton] round ${round}`
    let pressed = false
    const at: Terminal = {
      live: () => readRegisteredClient(home.configDir, tui.pid),
      composer(screen, cursor) {
        const now = readComposer(screen, cursor)
        // This is the screen check right before Baton would press Enter.
        if (!pressed && now.state === 'draft' && now.text === text) {
          pressed = true
          person.stdin.write('x')
        }
        return now
      },
      findPasted: findPastedText,
    }
    const pastedAt = Date.now()
    const typed = await pastePrompt(at, text, { sessionId: tui.sessionId()! })
    expect(pressed).toBe(true)
    if (typed.sent) {
      const got = await until(
        'the prompt',
        () => mainRequests(model).map((entry) => visibleTexts(entry).at(-1))[round - unsent],
      )
      expect(got).toBe(text)
      await tui.waitTurnEnd(pastedAt)
    } else {
      unsent++
      expect(typed).toMatchObject({ why: 'raced', left: 'nothing' })
    }
    // Only the user's keys remain in the composer.
    await until('the user’s own key', () => holds('x'))
  }
})
