/** 53 bits as hexadecimal digits: to tell things apart, not to prove anything. Loads nothing, so that a hook can afford it. */
export function shortHash(bytes: Uint8Array): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 2654435761)
    b = Math.imul(b ^ byte, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16).padStart(14, '0')
}
