/** The folder of live reports, orders and answers. mod.ts fills in both values at install time. */
export const LIVE = '@LIVE@'

/** The prompt that asks the agent for a brief after /handoff. Empty to ask nothing. */
export const REQUEST = '@REQUEST@'
