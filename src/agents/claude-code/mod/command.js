import { dropReason } from './orders.js'
import { reportProblem } from './report.js'
import { LIVE, REQUEST } from './settings.js'

const SUBMIT_AFTER_MS = 50
const ACTIONS = ['status', 'approve', 'cancel']
/** More edits than this make another word. */
const MOST_EDITS = 2

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
    const typed = words.toLowerCase()
    if (ACTIONS.includes(typed)) {
      $.clock.after(SUBMIT_AFTER_MS, () => submitAction($, typed))
      return { text: `/handoff ${typed}` }
    }
    // A misspelt action must not hand the session over.
    const meant = ACTIONS.find((action) => editsBetween(typed, action) <= MOST_EDITS)
    if (meant) return { text: `Nothing was done. Did you mean /handoff ${meant}? A note needs more words.` }
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

/** Returns how many letters must be added, removed or replaced to turn one word into the other. */
function editsBetween(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, n) => n)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)))
    row = next
  }
  return row[to.length]
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
