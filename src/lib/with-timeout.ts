/** Resolves like the promise, or with undefined after `ms`. Rejects if the promise does. */
export async function withTimeout<T>(ms: number, promised: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([promised, late])
  } finally {
    clearTimeout(timer)
  }
}
