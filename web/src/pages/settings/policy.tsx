import type { Settings } from '../../../../src/contract/api/settings.js'
import { Section } from '../../parts/page-head.js'
import { policyWords, switchText } from './policy-words.js'

/** What else is settled, in plain words, each with the key that changes it. */
export function Policy({ settings }: { settings: Settings }) {
  return (
    <Section title="Policy">
      <div className="policy">
        {policyWords(settings).map(({ title, sayings }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <ul>
              {sayings.map(({ key, value, says }) => (
                <li key={key}>
                  <span>{says}</span>
                  <code>
                    {key}
                    {value !== '' && <>: {value}</>}
                  </code>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Section>
  )
}

/** What is wrong in the files comes first: until it is mended they are not in force. */
export function ConfigurationErrors({ errors }: { errors: Settings['errors'] }) {
  if (errors.length === 0) return null
  return (
    <div className="problem config-errors" role="alert">
      <p>
        <strong>
          {errors.length === 1 ? 'The configuration has an error' : `The configuration has ${errors.length} errors`}, so the last
          good one is in force.
        </strong>
      </p>
      <ul>
        {errors.map(({ key, file, line, reason, hint }) => (
          <li key={`${file} ${key} ${reason}`}>
            <p>
              <code>{key}</code> <Ticked text={hint === '' ? reason : `${reason}: ${hint}`} />
            </p>
            <p className="mono config-place">
              {file}
              {line !== undefined && `:${line}`}
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** What stands between backticks is code. */
function Ticked({ text }: { text: string }) {
  return text.split('`').map((piece, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and keep nothing
    place % 2 === 1 ? <code key={place}>{piece}</code> : piece,
  )
}

/** Where the configuration was looked for. */
export function ConfigurationFiles({ settings }: { settings: Settings }) {
  const { files } = settings
  return (
    <Section title="Files">
      <p className="settings-told">
        <Ticked text={switchText(settings)} /> What is not written in a file is as Baton comes. A project’s{' '}
        <code>baton.yaml</code> wins over your own <code>config.yaml</code>.
      </p>
      <ul className="config-files">
        {files.map(({ path, exists }) => (
          <li key={path}>
            <span className="mono">{path}</span>{' '}
            <span className="quiet">{exists ? 'is read' : 'is not there: write it to change something'}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
