// Runs in the page before its own scripts and measures how long a user waits.

/** Resolves when the next frame has been painted. */
export function installWatch() {
  const PATIENCE = 10_000
  const painted = (then) => requestAnimationFrame(() => setTimeout(then))

  /**
   * Measures from the dispatch of the next event of this kind to the first painted frame in which
   * `holds` is true.
   */
  window.watchNext = (kind, holds) => {
    window.watched = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`nothing came of it: ${kind}, ${holds}`)), PATIENCE)
      const begin = (event) => {
        window.removeEventListener(kind, begin, true)
        const look = () =>
          holds() ? setTimeout(() => resolve(performance.now() - event.timeStamp)) : requestAnimationFrame(look)
        requestAnimationFrame(look)
      }
      window.addEventListener(kind, begin, true)
    })
  }

  /**
   * Measures from the last byte of the readings to the first painted frame with a line of at least
   * this many strokes.
   */
  window.drawn = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no curve was drawn')), PATIENCE)
    let from = null
    const json = Response.prototype.json
    Response.prototype.json = async function () {
      if (!/\/curve\b/.test(this.url)) return json.call(this)
      const text = await this.text()
      from = performance.now()
      return JSON.parse(text)
    }
    const stroke = CanvasRenderingContext2D.prototype.stroke
    CanvasRenderingContext2D.prototype.stroke = function (...args) {
      stroke.apply(this, args)
      // Only the lines of the curve are paths, so other drawing does not count.
      if (from === null || !(args[0] instanceof Path2D)) return
      const began = from
      from = null
      painted(() => resolve(performance.now() - began))
    }
  })
  // Pages without a curve have nothing to wait for.
  window.drawn.catch(() => {})
}
