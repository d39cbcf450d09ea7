import { expect } from 'vitest'
import { attackAsOtherUser, evaluateAsOtherUser, OTHER_UID } from '../harness/other-user.js'

attackAsOtherUser('the harness really runs attacks under another uid', async () => {
  expect(await evaluateAsOtherUser('console.log(JSON.stringify(process.getuid()))')).toBe(OTHER_UID)
})
