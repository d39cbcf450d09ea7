// Stands in for node-gyp-build inside the bundle: the prebuilt file is at a known place, so nothing
// is searched for.
const fs = require('node:fs')
const path = require('node:path')

module.exports = () => {
  const libc = fs.existsSync('/etc/alpine-release') ? '.musl' : '.glibc'
  const file = `prebuilds/${process.platform}-${process.arch}/@photostructure+sqlite${libc}.node`
  for (const base of ['../node_modules/@photostructure/sqlite', '../../@photostructure/sqlite']) {
    const full = path.join(__dirname, base, file)
    if (fs.existsSync(full)) return require(full)
  }
  return require(require.resolve('@photostructure/sqlite/package.json').replace('package.json', file))
}
