import type { ReactNode } from 'react'

/** Decorative line icon in the text's colour. The button or link around it needs a label. */
export function LineIcon({
  size = 16,
  strokeWidth = 1.25,
  children,
}: {
  size?: number
  strokeWidth?: number
  children: ReactNode
}) {
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={size}
      height={size}
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth={strokeWidth}
    >
      {children}
    </svg>
  )
}
