/** The version of everything that is built from this tree. */
export const VERSION = 'v0.1.0';
