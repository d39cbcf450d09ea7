/** `1 step`, `2 steps`. `many`: the plural where it is not the noun and an s. */
export function counted(count: number, noun: string, many = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : many}`
}
