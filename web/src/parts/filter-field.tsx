/** The search field of a list, beside the title of its page. */
export function FilterField(props: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <input
      type="search"
      className="page-search"
      aria-label={props.label}
      placeholder={props.label}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    />
  )
}
