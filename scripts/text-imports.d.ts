/** The text of the file. `text-imports.mjs` makes esbuild inline it; Vite does so by itself. */
declare module '*?raw' {
  const text: string
  export default text
}

/** The text of the JavaScript file and of everything it imports, as one ES module. */
declare module '*?bundle' {
  const text: string
  export default text
}
