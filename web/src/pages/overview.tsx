import { PageHead } from '../parts/page-head.js'

export default function Overview() {
  return <PageHead title="Overview" label="Overview" />
}
