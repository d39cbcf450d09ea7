import { useParameter } from '../../navigation.js'
import { isSort, SORTS } from '../../seats/order.js'

/** Search, filter and order, all in the address: what is seen can be linked to. */
export function Toolbar({ active, all }: { active: number; all: number }) {
  const [words, setWords] = useParameter('q')
  const [show, setShow] = useParameter('show')
  const [sort, setSort] = useParameter('sort')
  const chosen = show === 'all' || (show === '' && active === 0) ? 'all' : 'active'
  const choose = (what: 'active' | 'all'): void => setShow(what === 'active' && active > 0 ? '' : what)
  return (
    <search className="toolbar">
      <fieldset className="seat-choice">
        <legend className="unseen">Which seats</legend>
        {(['active', 'all'] as const).map((what) => (
          <label key={what}>
            <input type="radio" name="show" checked={chosen === what} onChange={() => choose(what)} />
            <span>
              {what === 'active' ? 'Active' : 'All of 24 h'} <b>{what === 'active' ? active : all}</b>
            </span>
          </label>
        ))}
      </fieldset>
      <input
        type="search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        placeholder="Search seats, projects, branches, ids"
        aria-label="Search seats"
        aria-keyshortcuts="/"
      />
      <select
        value={isSort(sort) ? sort : 'alarms'}
        onChange={(event) => setSort(event.target.value === 'alarms' ? '' : event.target.value)}
        aria-label="Order"
      >
        {Object.entries(SORTS).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </search>
  )
}
