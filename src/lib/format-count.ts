/** Formats a count with its noun: `1 step`, `2 steps`. `many` is the plural if it is irregular. */
export function formatCount(count: number, noun: string, many = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : many}`
}
