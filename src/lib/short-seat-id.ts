/**
 * Returns the beginning of a seat's id for tables and messages: its prefix and four characters.
 * Every command accepts so many characters in place of the id.
 */
export const shortSeatId = (seatId: string): string => seatId.slice(0, 9)
