// Loaded into Baton's processes with NODE_OPTIONS. Notes each file and folder below WATCHED_FOLDER
// that others could open in the moment it was made, before any later chmod.
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')
const { lstatSync, appendFileSync } = fs
const { WATCHED_FOLDER: folder, WATCHED_REPORT: report } = process.env

function note(path, how) {
  if (typeof path !== 'string' || !path.startsWith(`${folder}/`)) return
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return
  const found = (stat.mode & 0o077) === 0 ? 'private' : (stat.mode & 0o777).toString(8)
  appendFileSync(report, `${found} ${how} ${path}\n`)
}

for (const name of ['openSync', 'writeFileSync', 'appendFileSync', 'mkdirSync']) {
  const real = fs[name]
  fs[name] = (path, ...rest) => {
    const isNew = typeof path === 'string' && !fs.existsSync(path)
    const result = real(path, ...rest)
    if (isNew) note(path, name)
    return result
  }
}
const { createWriteStream, promises } = fs
fs.createWriteStream = (path, ...rest) =>
  createWriteStream(path, ...rest).once('open', () => note(path, 'createWriteStream'))
for (const name of ['open', 'writeFile', 'appendFile', 'mkdir']) {
  const real = promises[name]
  promises[name] = async (path, ...rest) => {
    const result = await real(path, ...rest)
    note(path, `promises.${name}`)
    return result
  }
}
syncBuiltinESMExports()
