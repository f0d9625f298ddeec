import { readFileSync } from 'node:fs';
import { leadsOut } from './host-routes.ts';

/** Whether this machine is in a network. */
export function hasDefaultRoute(): boolean {
  return leadsOut(readFileSync('/proc/net/route', 'utf8'));
}
