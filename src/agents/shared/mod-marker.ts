/** Makes the folder ours, and lists what we wrote. The client adds files of its own beside. */
export const MARKER = '.baton.json'
