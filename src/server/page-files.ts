import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { COMMON_HEADERS, pagePolicy } from './headers.js'

const DOCUMENT = '/index.html'
/** Paths that are served with the page's single document. */
const PAGES = /^\/(?:(?:sessions|jobs|briefs|archive|history|settings)(?:\/[^/]*)?\/?)?$/
const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  webmanifest: 'application/manifest+json',
}

export type Encoding = 'br' | 'gzip' | 'identity'

interface PageFile {
  type: string
  etag: string
  bytes: Partial<Record<Encoding, Buffer>>
}

interface FileRequest {
  path: string
  headers: { accept?: string | undefined; 'accept-encoding'?: string | undefined; 'if-none-match'?: string | undefined }
}

interface FileReply {
  status: 200 | 304 | 404
  headers: Record<string, string | number>
  body: Buffer | null
}

/**
 * Serves the page's files from a list by address, so that no path leads out of the folder.
 * All files are read at the first request and cached.
 * An update thus does not mix two versions of the page.
 */
export function pageFiles(folder: string | null): (request: FileRequest) => FileReply | null {
  let files: ReadonlyMap<string, PageFile> | null = null
  return (request) => {
    const wanted = addressOf(request)
    if (wanted === null || folder === null) return null
    files ??= readFiles(folder)
    const file = files.get(wanted)
    if (file) return replyOf(wanted, file, request.headers)
    const document = wantsDocument(request) ? files.get(DOCUMENT) : undefined
    return document ? notFoundReply(document, request.headers) : null
  }
}

/**
 * Returns the address of a file. Null for an address of data.
 * Programs request `/sessions` and `/sessions/{id}` for data, browsers for the document.
 */
export function addressOf({ path, headers }: FileRequest): string | null {
  if (/^\/(api|signals|hooks|health)(\/|$)/.test(path)) return null
  if (!PAGES.test(path)) return path
  if (wantsDocument({ headers })) return DOCUMENT
  const isData = path.startsWith('/sessions/') || (path === '/sessions' && headers.accept?.includes('application/json'))
  return isData ? null : DOCUMENT
}

const wantsDocument = ({ headers }: Pick<FileRequest, 'headers'>): boolean =>
  headers.accept?.includes('text/html') === true

/** Sends the page with status 404. The page itself says that the address does not exist. */
function notFoundReply(document: PageFile, asked: FileRequest['headers']): FileReply {
  const { headers, body } = replyOf(DOCUMENT, document, { ...asked, 'if-none-match': undefined })
  const { ETag: _, ...rest } = headers
  return { status: 404, headers: rest, body }
}

function replyOf(address: string, file: PageFile, asked: FileRequest['headers']): FileReply {
  const encoding = encodingFor(asked['accept-encoding'], file)
  const body = file.bytes[encoding]!
  const etag = `"${file.etag}-${encoding}"`
  const headers: FileReply['headers'] = {
    ...COMMON_HEADERS,
    'Content-Security-Policy': pagePolicy(),
    'Cache-Control': address.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Content-Type': file.type,
    Vary: 'Accept, Accept-Encoding',
    ETag: etag,
  }
  const known = (asked['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) return { status: 304, headers, body: null }
  if (encoding !== 'identity') headers['Content-Encoding'] = encoding
  return { status: 200, headers: { ...headers, 'Content-Length': body.length }, body }
}

/** Best available encoding that the caller accepts. `q=0` refuses an encoding. */
export function encodingFor(accept: string | undefined, { bytes }: Pick<PageFile, 'bytes'>): Encoding {
  const weights = new Map(
    (accept ?? '').split(',').map((one) => {
      const [name = '', ...rest] = one.split(';').map((part) => part.trim().toLowerCase())
      const q = rest.find((part) => part.startsWith('q='))
      return [name, q === undefined ? 1 : Number(q.slice(2))]
    }),
  )
  const accepts = (name: Encoding): boolean =>
    bytes[name] !== undefined && (weights.get(name) ?? weights.get('*') ?? 0) > 0
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const entry of listFiles(folder)) {
    const suffix = /\.([a-z0-9]+)$/.exec(entry)?.[1] ?? ''
    const type = TYPES[suffix]
    if (type === undefined) continue
    const path = join(folder, entry)
    const identity = readFileSync(path)
    const [br, gzip] = [readIfExists(`${path}.br`), readIfExists(`${path}.gz`)]
    files.set(`/${entry.split(sep).join('/')}`, {
      type,
      etag: createHash('sha256').update(identity).digest('base64url').slice(0, 22),
      bytes: { identity, ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) },
    })
  }
  return files
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  } catch {
    return [] // a program without its page still serves everything else
  }
}

function readIfExists(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}
