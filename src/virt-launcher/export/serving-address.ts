/** Where the Pod of an export listens. Pure. */
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';

/**
 * A forwarded port comes from the loopback of the Pod, so all of its addresses; a Pod of an embedded cluster has its address alone to itself, and
 * is found there.
 */
export function servingAddress(podAddress: string, env: Readonly<Record<string, string | undefined>>): string {
  if (env[SANDBOX_VARIABLE]) return podAddress;
  return podAddress.includes(':') ? '::' : '0.0.0.0';
}
