import { Command } from '../../parts/copy-button.js'
import { Empty } from '../../parts/faces.js'

/** Everything here is words of conversations: without a key there is nothing to show. */
export function NoKey() {
  return (
    <Empty title="Kept transcripts need a key">
      <p>They are whole conversations, and other users of this machine can reach this page too. In a terminal of yours:</p>
      <Command text="baton open" />
      <p>
        Or <a href="#access">paste the server’s token</a>.
      </p>
    </Empty>
  )
}
