// Runs in the page before its own scripts: holds the watch over what a person waits for.

/** Until a frame that shows it has been painted. */
export function installWatch() {
  const PATIENCE = 10_000
  const painted = (then) => requestAnimationFrame(() => setTimeout(then))

  /** From the moment the next event of this kind was made to the first painted frame in which `holds` holds. */
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

  /** From the last byte of the readings to the first painted frame with a line of so many strokes. */
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
      // Lines of the climb are paths; what is drawn around it is not.
      if (from === null || !(args[0] instanceof Path2D)) return
      const began = from
      from = null
      painted(() => resolve(performance.now() - began))
    }
  })
  // Not every page has a curve, nor somebody who waits for it.
  window.drawn.catch(() => {})
}
