const LONGEST = 200

/**
 * Whether a client's word for its session can be taken. Ids stand in addresses, names of files and on terminals: one that holds a control
 * character, or reads as a way through folders, could be asked for by nobody and would lead elsewhere.
 */
export const isSessionId = (id: string): boolean =>
  id.trim() !== '' && id.length <= LONGEST && !/[\x00-\x1f\x7f-\x9f/\\\u2028\u2029]|\.\./.test(id)
