/** Of several viewers of a console or a screen one types. What is said of it travels as text beside the bytes. */

/** A viewer asks to be the one. */
export const TAKE_OVER = 'take-over';
/** A viewer of a console is told whether it is. */
export const TURNS = { mine: 'writing', others: 'watching' } as const;
