/**
 * The part of the mod's program that gives the user `/handoff`. The client lets a mod's hook answer for any command of a name, also for
 * one the user wrote: whenever there is one that is not the mod's own, that one runs.
 */
export const COMMAND_SOURCE = `
const ASK_AFTER_MS = 50

let offered = false

async function offerCommand($) {
  try {
    if (await taken($)) return
    await $.command.register({
      name: 'handoff',
      description: 'Hand the work to a fresh session with a checked brief (Baton)',
      argumentHint: '[what the next session should know]',
    })
    offered = true
  } catch {
    // a client that takes no commands from mods
  }
}

async function taken($) {
  try {
    return (await $.command.list()).some((command) => command.name === 'handoff' && command.plugin !== 'baton')
  } catch {
    return true
  }
}

async function handoffTyped($, e, next) {
  if (!offered || (await taken($))) return next(e)
  try {
    const session = await $.session.id()
    const words = e.args.trim()
    await $.fs.write(LIVE + '/' + session + '.request.json', JSON.stringify({ format: 1, session, at: Date.now(), words }))
    if (REQUEST === '') return { text: 'The work will be handed to a fresh session.' }
    // A prompt given before the command has ended never begins its turn.
    $.clock.after(ASK_AFTER_MS, () => ask($, words))
    return { text: 'The agent is asked for a brief; then the work is handed to a fresh session.' }
  } catch (error) {
    return { text: 'The request could not be taken: ' + error }
  }
}

async function ask($, words) {
  try {
    const text = words === '' ? REQUEST : REQUEST + '\\n\\nThe user adds: ' + words
    const refused = said(await $.prompt.submit({ text, asUser: true }), '/handoff')
    if (refused !== null) await grumble($, refused)
  } catch (error) {
    await grumble($, '/handoff: ' + error)
  }
}
`
