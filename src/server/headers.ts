/** Headers of every response of the HTTP server. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'X-Baton': '1',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** Headers of every response that is not a file of the page. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
}

/**
 * Content security policy of the page: allows its own files, this server and given inline hashes.
 */
export function pagePolicy(scripts = "'self'", styles = "'self'"): string {
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
