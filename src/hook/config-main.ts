export { loadConfig } from '../config/load-config.js'
