import './archive/archive.css'
import { KeptTranscript } from './archive/kept-transcript.js'
import { KeptTranscripts } from './archive/kept-transcripts.js'

export default function Archive({ id }: { id: string | null }) {
  return id === null ? <KeptTranscripts /> : <KeptTranscript id={id} />
}
