import { PageHead } from '../parts/page-head.js'

export default function Settings() {
  return <PageHead title="Settings" label="Settings" />
}
