import { switchCommand } from '../switch-baton.js'

export const command = switchCommand(true)
