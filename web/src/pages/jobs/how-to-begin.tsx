import { Command, CopyButton } from '../../parts/copy-button.js'

const EXAMPLE = `agents:
  - name: coder
    prompt: Make the tests pass, then say that you are done.
    permission_mode: acceptEdits
    workspace: { strategy: git_worktree }
    checks: [npm test]
    budgets: { usd: 5 }
`

/** The two ways to a first job. */
export function HowToBegin() {
  return (
    <>
      <p>A job carries one goal through as many sessions as it needs, and is done only when your checks pass.</p>
      <Command text={'baton run --prompt "Make the tests pass." --check "npm test"'} />
      <p>
        An agent you use more than once has a name in the project’s <code>baton.yaml</code>. Then <code>baton run coder</code>, or
        the button above, begins a job:
      </p>
      <YamlExample />
    </>
  )
}

export function YamlExample() {
  return (
    <figure className="sample">
      <figcaption>
        <code>baton.yaml</code>
        <CopyButton text={EXAMPLE} label="example" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard */}
      <pre tabIndex={0}>{EXAMPLE}</pre>
    </figure>
  )
}
