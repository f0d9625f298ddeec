/** The volume that stands for a dump of a guest's memory to a PVC: it has the name of its PVC, and no disk. Pure. */
import type { VmiSpec, Volume } from '../vmi-spec-schema.ts';

export function dumpVolumeFor(claimName: string): Volume {
  return { name: claimName, memoryDump: { claimName, hotpluggable: true } };
}

/** The one that a spec has. */
export function dumpVolumeOf({ volumes = [] }: Pick<VmiSpec, 'volumes'>): Volume | undefined {
  return volumes.find(isDumpVolume);
}

export function isDumpVolume({ memoryDump }: Volume): boolean {
  return memoryDump !== undefined;
}

/** The PVC that this volume is on. */
export function dumpClaimNameOf(spec: Pick<VmiSpec, 'volumes'>): string | undefined {
  return dumpVolumeOf(spec)?.memoryDump?.claimName;
}
