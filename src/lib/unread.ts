/**
 * What was told and not read yet, in order. Nothing is lost on a slow reader and nothing is kept that was read: whoever tells is
 * never made to wait, because a client that waits to be read would also wait with its questions.
 */
export class Unread<T> implements AsyncIterable<T> {
  private told: T[] = []
  private over = false
  private read = false
  private wake: () => void = () => {}

  /** After `close` it is dropped. */
  tell(item: T): void {
    if (this.over) return
    this.told.push(item)
    this.wake()
  }

  close(): void {
    this.over = true
    this.wake()
  }

  get size(): number {
    return this.told.length
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    if (this.read) throw new Error('the messages of a session may be read once')
    this.read = true
    for (;;) {
      const batch = this.told.reverse()
      this.told = []
      while (batch.length > 0) yield batch.pop()!
      if (this.told.length > 0) continue
      if (this.over) return
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }
}
