import { PageHead } from '../parts/page-head.js'

export default function Session({ id }: { id: string }) {
  return <PageHead title={id} label={id} />
}
