/** How a command in a terminal is told the namespace of what it is about. Pure. */

/** With a space before it; nothing for the one that commands take by themselves. */
export function where(namespace: string | undefined): string {
  return namespace === undefined || namespace === 'default' ? '' : ` -n ${namespace}`;
}
