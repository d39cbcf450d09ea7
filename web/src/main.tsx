import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/shell.css'
import { createRoot } from 'react-dom/client'
import { problemFrom, problemText } from './api.js'
import { App, fetchPages } from './app.js'
import { enter, takeTicket } from './enter.js'
import { listen } from './live/use-live.js'
import { toast } from './parts/toast.js'
import { applyTheme } from './theme.js'

applyTheme()
const ticket = takeTicket()
if (ticket !== null) {
  // The key comes first: what is asked without it would be figures only, and be asked again at once.
  await enter({ ticket }).catch((error) => toast(problemText(problemFrom(error))))
}
listen()
createRoot(document.getElementById('root')!).render(<App />)
fetchPages()
