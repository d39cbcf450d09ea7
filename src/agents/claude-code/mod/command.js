import { dropReason } from './orders.js'
import { reportProblem } from './report.js'
import { LIVE, REQUEST } from './settings.js'

const SUBMIT_AFTER_MS = 50
const ACTIONS = ['status', 'approve', 'cancel']

let isOffered = false

/**
 * Offers `/handoff` to the user.
 * A module could also answer for an existing command of this name, such as one of the user.
 * If there is another one, that one runs.
 */
export async function offerCommand($) {
  try {
    if (await isTaken($)) return
    await $.command.register({
      name: 'handoff',
      description: 'Hand the work to a fresh session with a checked brief (Baton)',
      argumentHint: '[status | approve | cancel | what the next session should know]',
    })
    isOffered = true
  } catch {
    // This client accepts no commands from modules.
  }
}

async function isTaken($) {
  try {
    return (await $.command.list()).some((command) => command.name === 'handoff' && command.plugin !== 'baton')
  } catch {
    return true
  }
}

export async function onHandoffCommand($, e, next) {
  if (!isOffered || (await isTaken($))) return next(e)
  try {
    const session = await $.session.id()
    const words = e.args.trim()
    if (ACTIONS.includes(words)) {
      $.clock.after(SUBMIT_AFTER_MS, () => submitAction($, words))
      return { text: `/handoff ${words}` }
    }
    const request = { format: 1, session, at: Date.now(), words }
    await $.fs.write(`${LIVE}/${session}.request.json`, JSON.stringify(request))
    if (REQUEST === '') return { text: 'A fresh session will continue the work.' }
    // A prompt submitted before the command has ended never starts its turn.
    $.clock.after(SUBMIT_AFTER_MS, () => requestBrief($, words))
    return { text: 'The agent writes a brief. Then a fresh session continues the work.' }
  } catch (error) {
    return { text: `/handoff failed: ${error}` }
  }
}

async function requestBrief($, words) {
  try {
    const text = words === '' ? REQUEST : `${REQUEST}\n\nThe user adds: ${words}`
    const dropped = dropReason(await $.prompt.submit({ text, asUser: true }), '/handoff')
    if (dropped !== null) await reportProblem($, dropped)
  } catch (error) {
    await reportProblem($, `/handoff: ${error}`)
  }
}

/** Submits a prompt that only a hook answers, because a module cannot call another program. */
async function submitAction($, action) {
  try {
    await $.prompt.submit({ text: `[baton] /handoff ${action}`, asUser: true })
  } catch (error) {
    await reportProblem($, `/handoff ${action}: ${error}`)
  }
}
