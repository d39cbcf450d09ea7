import { PageHead } from '../parts/page-head.js'

export default function Briefs(_: { id: string | null }) {
  return <PageHead title="Briefs" label="Briefs" />
}
