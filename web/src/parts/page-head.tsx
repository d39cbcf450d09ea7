import { type ReactNode, useEffect, useRef } from 'react'
import { setTitleName } from './page-title.js'

/** Heading of a page. It gets the focus after a navigation, for keyboards and screen readers. */
export function PageHead({ title, label, children }: { title: ReactNode; label: string; children?: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    setTitleName(label)
  }, [label])
  useEffect(() => {
    if (hasShownPage) ref.current?.focus({ preventScroll: true })
    hasShownPage = true
  }, [])
  return (
    <header className="page-head">
      <h1 ref={ref} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </header>
  )
}

/** False until the first page is shown: on load the browser sets the focus itself. */
let hasShownPage = false

/** Section of a page with its heading. */
export function Section({
  title,
  aside,
  children,
  id,
}: {
  title: string
  aside?: ReactNode
  children: ReactNode
  id?: string
}) {
  const heading = `${id ?? title.toLowerCase().replace(/\W+/g, '-')}-title`
  return (
    <section className="section" aria-labelledby={heading} id={id}>
      <div className="section-head">
        <h2 id={heading}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
