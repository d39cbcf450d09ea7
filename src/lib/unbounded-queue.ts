/**
 * A queue that one reader iterates. Pushing never waits and loses nothing. Read items are dropped.
 * A client that had to wait for the reader could not ask its questions meanwhile.
 */
export class UnboundedQueue<T> implements AsyncIterable<T> {
  private items: T[] = []
  private over = false
  private read = false
  private wake: () => void = () => {}

  /** Appends an item. After `close` the item is dropped. */
  push(item: T): void {
    if (this.over) return
    this.items.push(item)
    this.wake()
  }

  close(): void {
    this.over = true
    this.wake()
  }

  get size(): number {
    return this.items.length
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    if (this.read) throw new Error('the messages of a session can be read only once')
    this.read = true
    for (;;) {
      const batch = this.items.reverse()
      this.items = []
      while (batch.length > 0) yield batch.pop()!
      if (this.items.length > 0) continue
      if (this.over) return
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }
}
