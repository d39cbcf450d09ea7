import { UNKNOWN_TEXT } from './format.js'

/** Model name without vendor prefix and date, as `opus-4-6`. The full name is shown on hover. */
export function ModelName({ model }: { model: string | null }) {
  if (model === null) return <span className="quiet">{UNKNOWN_TEXT}</span>
  return (
    <span className="cut" title={model}>
      {model.replace(/^claude-/, '').replace(/-20\d{6}$/, '')}
    </span>
  )
}
