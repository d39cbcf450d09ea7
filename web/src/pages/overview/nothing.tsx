import { Command } from '../../parts/copy-button.js'
import { Empty } from '../../parts/faces.js'

/** Nothing was ever heard: how to begin. */
export function NoSessions() {
  return (
    <Empty title="No sessions yet">
      <p>Baton measures every session of Claude Code on this machine. Three steps to the first one:</p>
      <ol className="begin">
        <li>
          <span>Let the client tell Baton what it does.</span>
          <Command text="baton install" />
        </li>
        <li>
          <span>Start the client as always, in any folder. Its session appears here by itself.</span>
          <Command text="claude" />
        </li>
        <li>
          <span>Nothing appears? This finds out why.</span>
          <Command text="baton doctor" />
        </li>
      </ol>
      <p>Or see it at work first, without a model and without a change to your settings:</p>
      <Command text="baton demo" />
    </Empty>
  )
}

export function NoMatch({ words, clear }: { words: string; clear: () => void }) {
  return (
    <Empty title="Nothing matches">
      <p>
        {words === '' ? 'There is no seat of this kind.' : <>No seat has “{words}” in its name, project, branch, model or id.</>}
      </p>
      {words !== '' && (
        <button type="button" className="button" onClick={clear}>
          Clear the search
        </button>
      )}
    </Empty>
  )
}
