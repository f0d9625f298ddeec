/**
 * Who leads, by a Lease. First match wins.
 *
 *   create   there is no lease
 *   renew    we hold it
 *   take     nobody holds it, or its holder has not renewed it for its whole duration, by our own clock since we saw it change
 *   wait     somebody else holds it
 *
 * Clocks of two machines are never compared: a lease is old when we have seen no change in it for long enough.
 */
import type { Lease } from '../api/core/lease.ts';

export type LeaseSeen = {
  readonly lease: Lease | undefined;
  readonly identity: string;
  /** When its present content was first seen here. */
  readonly unchangedSince: number;
  readonly now: number;
};
export type LeaseStep = { readonly do: 'create' | 'renew' | 'take' | 'wait'; readonly because: string };

/** What a candidate does next. */
export function decideLease({ lease, identity, unchangedSince, now }: LeaseSeen): LeaseStep {
  if (!lease) return { do: 'create', because: 'there is no lease' };
  const { holderIdentity: holder, leaseDurationSeconds = 0 } = lease.spec;
  if (holder === identity) return { do: 'renew', because: 'we hold the lease' };
  if (!holder) return { do: 'take', because: 'nobody holds the lease' };
  if (now - unchangedSince >= leaseDurationSeconds * 1000)
    return { do: 'take', because: `${holder} has not renewed it for ${leaseDurationSeconds} s` };
  return { do: 'wait', because: `${holder} holds the lease` };
}
