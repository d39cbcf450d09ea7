import type { ReactNode } from 'react'
import type { PageName } from './route.js'

interface PageLink {
  page: PageName
  href: string
  label: string
  /** Key that opens the page when pressed after `g`. */
  key: string
  icon: ReactNode
}

/** Links to all pages, in the order of the navigation. */
export const PAGE_LINKS: readonly PageLink[] = [
  { page: 'overview', href: '/', label: 'Overview', key: 'o', icon: <path d="M2 4h12M2 8h8M2 12h10" /> },
  { page: 'jobs', href: '/jobs', label: 'Jobs', key: 'j', icon: <path d="M2 8h3m6 0h3M5 4.5h6v7H5z" /> },
  {
    page: 'briefs',
    href: '/briefs',
    label: 'Briefs',
    key: 'b',
    icon: <path d="M4 2h6l2.5 2.5V14H4zM6.5 7.5h4m-4 3h4" />,
  },
  { page: 'archive', href: '/archive', label: 'Archive', key: 'a', icon: <path d="M2 3h12v3H2zm1 3v7h10V6M6.5 9h3" /> },
  { page: 'history', href: '/history', label: 'History', key: 'h', icon: <path d="M2.5 14V9m4 5V3m4 11V7m4 7V5" /> },
  {
    page: 'settings',
    href: '/settings',
    label: 'Settings',
    key: 's',
    icon: <path d="M2 5h7m3 0h2M2 11h2m3 0h7M9 3v4M7 9v4" />,
  },
]
