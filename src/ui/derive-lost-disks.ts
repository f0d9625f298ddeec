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
  const disks = fates.filter(({ folder }) => folder === undefined);
  const told = (isLost: boolean) => disks.filter((fate) => fate.isLost === isLost).map(({ name, size }) => `${name} (${size})`);
  const [lost, kept] = [told(true), told(false)];
  const folders = fates.flatMap(({ folder }) => folder ?? []);
  return [
    ...(lost.length > 0 ? [`Lost for good, with all that is on them: ${lost.join(', ')}.`] : []),
    ...(kept.length > 0 ? [`Disks of their own, which stay: ${kept.join(', ')}.`] : []),
    ...(folders.length > 0 ? [`Folders of the host, which stay: ${folders.join(', ')}.`] : []),
  ];
}
