import './choice.css'

/** One of a few, all in sight: radio buttons that look like one instrument. */
export function Choice<Id extends string>({
  label,
  options,
  chosen,
  onChoose,
}: {
  label: string
  options: readonly { id: Id; label: string }[]
  chosen: Id
  onChoose: (id: Id) => void
}) {
  return (
    <fieldset className="choice">
      <legend className="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.id}>
          <input
            type="radio"
            className="unseen"
            name={label}
            value={option.id}
            checked={option.id === chosen}
            onChange={() => onChoose(option.id)}
          />
          <span className="choice-name">{option.label}</span>
        </label>
      ))}
    </fieldset>
  )
}
