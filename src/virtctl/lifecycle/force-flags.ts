/** --force and --grace-period, which belong together. */
import { UserError } from '../../base/errors.ts';
import type { LifecycleFlags } from './call-subresource.ts';

export type ForceFlags = LifecycleFlags & { readonly force: boolean; readonly gracePeriod?: number };

/** Refuses one without the other. */
export function requireBoth({ force, gracePeriod }: ForceFlags): void {
  if (force === (gracePeriod !== undefined)) return;
  throw new UserError('USAGE', '--force and --grace-period must be given together', {
    why: 'a force stop can damage the data of a guest, so both the wish and the time have to be said',
    fix: 'add the other one, e.g. --force --grace-period 0',
    exitCode: 2,
  });
}
