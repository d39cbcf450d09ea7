/** Title of the browser tab: number of alarms, name of the page, `Baton`. */

let name = ''
let count = 0

export function setTitleName(next: string): void {
  name = next
  updateTitle()
}

export function setTitleCount(next: number): void {
  count = next
  updateTitle()
}

function updateTitle(): void {
  const title = name === '' || name === 'Overview' ? 'Baton' : `${name} · Baton`
  document.title = count === 0 ? title : `(${count}) ${title}`
}
