import '../styles/pages.css'
import '../styles/briefs.css'
import { BriefDetailPage } from './briefs/brief-detail.js'
import { BriefList } from './briefs/brief-list.js'

export default function Briefs({ id }: { id: string | null }) {
  return id === null ? <BriefList /> : <BriefDetailPage id={id} />
}
