/**
 * Marker file: the folder that holds it is Baton's, and the file lists what Baton wrote there.
 * The client may add other files to the folder.
 */
export const MODULE_MARKER_FILE = '.baton.json'
