import { BatonError, codeOf, reasonOf } from '../../lib/errors.js'

/** What keeps archives from being searched, as a sentence and what to do. Errors of another kind come back as they are. */
export function explainSearch(error: unknown): unknown {
  if (error instanceof BatonError) return error
  const reason = reasonOf(error)
  const said = `${reason} ${codeOf(error) ?? ''}`
  if (/disk is full|no space left|ENOSPC|EDQUOT/i.test(said))
    return new BatonError(
      'No space is left on the disk, so the archives cannot be searched.',
      'Free some space and search again; nothing that was kept is lost.',
    )
  if (/readonly|read-only|unable to open|EACCES|EROFS|EPERM|EISDIR/i.test(said))
    return new BatonError(
      `The archives cannot be searched: their index cannot be opened (${reason}).`,
      'Check the owner and mode of archive-index.db. It can be deleted at any time: it is made again from the archives.',
    )
  if (/disk I\/O error/i.test(said))
    return new BatonError(
      `The archives cannot be searched: their index cannot be read (${reason}).`,
      'Check the disk and its free space. The index can be deleted at any time: it is made again from the archives.',
    )
  return error
}
