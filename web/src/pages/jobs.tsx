import { PageHead } from '../parts/page-head.js'

export default function Jobs(_: { id: string | null }) {
  return <PageHead title="Jobs" label="Jobs" />
}
