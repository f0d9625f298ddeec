/** Sentences about the disks of machines that are to be deleted. Pure. */
import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import { claimNamesOf, diskFates } from '../sdk/disk-fates.ts';
import type { Machine } from './derive-machines.ts';

/** `unknown`: the user may not see the claims, or nobody answered. */
export function deriveLostDisks(machines: readonly Machine[], claims: readonly PersistentVolumeClaim[] | 'unknown'): string[] {
  const vms = machines.flatMap(({ vm }) => vm ?? []);
  if (claims === 'unknown') {
    const names = vms.flatMap(claimNamesOf);
    return names.length === 0 ? [] : [`It cannot be said which of these PVCs are lost with it: ${names.join(', ')}.`];
  }
  const fates = vms.flatMap((vm) => diskFates(vm, claims));
  const told = (isLost: boolean) => fates.filter((fate) => fate.isLost === isLost).map(({ name, size }) => `${name} (${size})`);
  const [lost, kept] = [told(true), told(false)];
  return [
    ...(lost.length > 0 ? [`Lost for good, with all that is on them: ${lost.join(', ')}.`] : []),
    ...(kept.length > 0 ? [`Disks of their own, which stay: ${kept.join(', ')}.`] : []),
  ];
}
