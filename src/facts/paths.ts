/** Paths as text: facts are judged without looking at a disk. */
export function resolvePath(path: string, cwd: string | null): string {
  if (path.startsWith('/') || path.startsWith('~') || cwd === null) return tidy(path)
  return tidy(`${cwd}/${path}`)
}

/** As people would write it: relative inside `root`, else as it is. */
export function shownPath(path: string, root: string | null): string {
  if (root === null || root === '/') return path
  if (path === root) return '.'
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function tidy(path: string): string {
  const clean =
    !path.includes('//') && !path.includes('/.') && !path.startsWith('.') && (!path.endsWith('/') || path === '/')
  if (clean) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '..' || !path.startsWith('/')) parts.push(part)
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/')
}
