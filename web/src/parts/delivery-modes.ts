/** When a message reaches the agent, by the mode it is sent with. */
export const DELIVERY_MODES = {
  sequential: 'after the turn',
  important: 'at the next step',
  urgent: 'now',
} as const
