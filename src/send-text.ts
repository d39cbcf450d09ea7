import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Mode } from './contract/level.js'
import type { Message } from './contract/message.js'
import { LONGEST_TEXT, sendMessage } from './engine/send-message.js'
import type { House } from './house.js'
import { writeFileAtomic } from './lib/atomic-file.js'
import { makePrivateFolder } from './lib/private-folder.js'

/** Says something to a seat. What is too long for a client lies in a file that is named instead; the file goes again if what names it was not kept. */
export function sendText(house: House, said: { seatId: string; sender: string; mode: Mode; text: string }): Message {
  const { text } = said
  const { parts } = house.engine
  if (text.length <= LONGEST_TEXT) return sendMessage(parts, { ...said, file: null })
  const path = keepText(house, text)
  try {
    const beginning = text.slice(0, LONGEST_TEXT / 10).trimEnd()
    return sendMessage(parts, { ...said, text: beginning, file: { path, characters: text.length } })
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

function keepText({ home }: House, text: string): string {
  makePrivateFolder(home.messages)
  const path = join(home.messages, `${randomUUID()}.txt`)
  writeFileAtomic(path, text, { mode: 0o600 })
  return path
}
