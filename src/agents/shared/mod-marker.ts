/**
 * Marker file that makes the folder ours and lists the files we wrote.
 * The client adds its own files.
 */
export const MARKER = '.baton.json'
