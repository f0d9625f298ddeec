/** Whether a machine is in a network, as its routes say. Pure. */

const EVERYWHERE = '00000000';

export const NO_WAY_OUT = 'this machine is in no network: guests have no way out until it is';

/** A table of the kernel: interface, destination and mask in hexadecimal digits. */
export function leadsOut(routes: string): boolean {
  const [, ...lines] = routes.split('\n');
  return lines.map((line) => line.split('\t')).some(([, destination, , , , , , mask]) => destination === EVERYWHERE && mask === EVERYWHERE);
}
