import { needChromium } from './browser.js'

/**
 * Set-up of the page tier: installs chromium once, before several workers would try at the same
 * time.
 */
export default needChromium
