import { UNKNOWN } from './format.js'

/** `opus-4-6`: who makes it goes without saying; the whole name is on hover. */
export function ModelName({ model }: { model: string | null }) {
  if (model === null) return <span className="quiet">{UNKNOWN}</span>
  return (
    <span className="cut" title={model}>
      {model.replace(/^claude-/, '').replace(/-20\d{6}$/, '')}
    </span>
  )
}
