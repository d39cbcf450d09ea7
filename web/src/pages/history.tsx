import { PageHead } from '../parts/page-head.js'

export default function History() {
  return <PageHead title="History" label="History" />
}
