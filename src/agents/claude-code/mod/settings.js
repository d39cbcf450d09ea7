/** The folder of live reports, orders and answers. mod.ts fills in both values at install time. */
export const LIVE = '@LIVE@'

/** The prompt that asks the agent for a brief after /handoff. Empty when nothing is to be asked. */
export const REQUEST = '@REQUEST@'
