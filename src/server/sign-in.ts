import { createHash } from 'node:crypto'
import { ALWAYS, pagePolicy } from './headers.js'

/** Where a browser keeps its key; the page reads it there. */
export const KEY_PLACE = 'baton.key'

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
form { display: grid; gap: 12px; width: min(22rem, 90vw); }
h1 { font-size: 1.25rem; font-weight: 600; margin: 0; }
p { margin: 0; }
input, button { font: inherit; padding: 8px 12px; }
`
const SCRIPT = `
const form = document.querySelector('form'), said = document.querySelector('#said');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  said.textContent = '';
  try {
    const reply = await fetch('/api/enter', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token: form.token.value.trim() }),
    });
    const told = await reply.json();
    if (!reply.ok) { said.textContent = told.error; return; }
    localStorage.setItem('${KEY_PLACE}', told.key);
    location.reload();
  } catch {
    said.textContent = 'The server does not answer.';
  }
});
`
export const SIGN_IN = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Baton</title><style>${STYLE}</style></head>
<body><main><form>
<h1>Baton</h1>
<p>This server wants its token: what is in the file it was started with.</p>
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Enter</button>
<p id="said" role="alert"></p>
</form></main><script>${SCRIPT}</script></body>
</html>
`

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const SIGN_IN_HEADERS: Readonly<Record<string, string>> = {
  ...ALWAYS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': pagePolicy(hash(SCRIPT), hash(STYLE)),
  'Cache-Control': 'no-store',
}
