const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g

/** Replaces terminal control characters by spaces, because names and paths come from outside. */
export function replaceControls(text: string): string {
  return text.replace(CONTROL, ' ')
}

/** Shows a path below the user's home folder as `~/code/shop`. */
export function displayPath(path: string, home: string | undefined): string {
  const shown = home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path
  return replaceControls(shown)
}
