import { PageHead } from '../parts/page-head.js'

export default function Archive(_: { id: string | null }) {
  return <PageHead title="Archive" label="Archive" />
}
