/** The tab's title: how many things wait for the user, the page's name, the program's. */

let name = ''
let count = 0

export function setTitleName(next: string): void {
  name = next
  show()
}

export function setTitleCount(next: number): void {
  count = next
  show()
}

function show(): void {
  const title = name === '' || name === 'Overview' ? 'Baton' : `${name} · Baton`
  document.title = count === 0 ? title : `(${count}) ${title}`
}
