/** The part of the mod's program that gives the user `/handoff`, unless the user has a command of that name already. */
export const COMMAND_SOURCE = `
async function offerCommand($) {
  try {
    const commands = await $.command.list()
    if (commands.some((command) => command.name === 'handoff' && command.plugin !== 'baton')) return
    await $.command.register({
      name: 'handoff',
      description: 'Hand the work to a fresh session with a checked brief (Baton)',
      argumentHint: '[what the next session should know]',
    })
  } catch {
    // a client that takes no commands from mods
  }
}

async function handoffTyped($, e) {
  try {
    const session = await $.session.id()
    const words = e.args.trim()
    await $.fs.write(LIVE + '/' + session + '.request.json', JSON.stringify({ format: 1, session, at: Date.now(), words }))
    if (REQUEST === '') return { text: 'Baton will hand this session over.' }
    ask($, words)
    return { text: 'Baton asks the agent for a brief, then hands the work to a fresh session.' }
  } catch (error) {
    return { text: 'Baton could not take the request: ' + error }
  }
}

// Not awaited by the command: the prompt begins its turn only when the command has ended.
async function ask($, words) {
  try {
    await $.prompt.submit({ text: words === '' ? REQUEST : REQUEST + '\\n\\nThe user adds: ' + words, asUser: true })
  } catch (error) {
    await grumble($, '/handoff: ' + error)
  }
}
`
