/** Resolves a path as text. Facts are judged without access to the disk. */
export function resolvePath(path: string, cwd: string | null): string {
  if (path.startsWith('/') || path.startsWith('~') || cwd === null) return normalizePath(path)
  return normalizePath(`${cwd}/${path}`)
}

/** Returns the path as users write it: relative inside `root`, else unchanged. */
export function relativePath(path: string, root: string | null): string {
  if (root === null || root === '/') return path
  if (path === root) return '.'
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function normalizePath(path: string): string {
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
