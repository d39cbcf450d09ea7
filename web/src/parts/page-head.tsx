import { type ReactNode, useEffect, useRef } from 'react'
import { setTitleName } from './page-title.js'

/** The heading of a page. Who arrives by keyboard or ear arrives here. */
export function PageHead({ title, label, children }: { title: ReactNode; label: string; children?: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    setTitleName(label)
  }, [label])
  useEffect(() => {
    if (arrived) ref.current?.focus({ preventScroll: true })
    arrived = true
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

/** The browser sets the focus itself when it loads the page. */
let arrived = false

/** A part of a page with its heading. */
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
