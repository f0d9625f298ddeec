/** Disks that are attached to a machine and detached from it: which ones can be, what is sent, and the commands that do the same. Pure. */
import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import type { VmResource } from '../api/kubevirt/subresources.ts';
import { claimOf } from '../api/kubevirt/volumes/source-of.ts';
import type { Machine } from './derive-machines.ts';
import { where } from './derive-where.ts';

export type Plug = {
  readonly claim: string;
  /** The claim is made, empty, of this size; undefined where it is there. */
  readonly size: string | undefined;
  readonly bus: string;
  /** It is there after a restart, too. */
  readonly stays: boolean;
};

/** Claims of the namespace that no machine has: one of two guests that write to one disk would destroy it. */
export function deriveFreeClaims(
  { namespace }: Pick<Machine, 'namespace'>,
  claims: readonly PersistentVolumeClaim[],
  machines: readonly Machine[],
): string[] {
  const taken = new Set(machines.filter((each) => each.namespace === namespace).flatMap(claimsOf));
  const free = claims.filter(
    ({ metadata }) => metadata.namespace === namespace && !metadata.deletionTimestamp && !taken.has(metadata.name),
  );
  return free.map(({ metadata }) => metadata.name).sort();
}

/** Those of the machine and those that only its instance has. */
export function claimsOf({ vm, vmi }: Machine): string[] {
  const volumes = [...(vm?.spec.template.spec.volumes ?? []), ...(vmi?.spec.volumes ?? [])];
  return [...new Set(volumes.flatMap((volume) => claimOf(volume)?.claimName ?? []))];
}

/** A name that no claim has. */
export function newClaimName(machine: string, claims: readonly PersistentVolumeClaim[]): string {
  const names = new Set(claims.map(({ metadata }) => metadata.name));
  for (let number = 1; ; number++) if (!names.has(`${machine}-data-${number}`)) return `${machine}-data-${number}`;
}

export function emptyClaim(namespace: string, { claim, size = '' }: Plug): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: claim },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
  };
}

/** As the server takes it. */
export function plugBody({ claim, bus }: Plug): Readonly<Record<string, unknown>> {
  return {
    name: claim,
    disk: { disk: { bus }, serial: claim },
    volumeSource: { persistentVolumeClaim: { claimName: claim, hotpluggable: true } },
  };
}

/** Whose volumes are changed: those of the machine, which its instance follows, or of the instance alone. */
export function plugTarget({ vm }: Machine, stays: boolean): VmResource {
  return vm && stays ? 'virtualmachines' : 'virtualmachineinstances';
}

/** Whether the machine has it, and not only the instance that runs. */
export function isKept({ vm }: Machine, disk: string): boolean {
  return vm?.spec.template.spec.volumes?.some(({ name }) => name === disk) ?? false;
}

export function plugCommands(machine: Machine, plug: Plug, madeAs: PersistentVolumeClaim | undefined): string[] {
  const { namespace, name } = machine;
  const bus = plug.bus === 'scsi' ? '' : ` --bus ${plug.bus}`;
  const made = madeAs && `kubectl create -f - <<< '${JSON.stringify(madeAs).replaceAll("'", `'\\''`)}'`;
  return [
    ...(made ? [made] : []),
    `virtctl addvolume ${name} --volume-name ${plug.claim}${bus}${plug.stays ? ' --persist' : ''}${where(namespace)}`,
  ];
}

export function unplugCommand(machine: Machine, disk: string): string {
  return `virtctl removevolume ${machine.name} --volume-name ${disk}${isKept(machine, disk) ? ' --persist' : ''}${where(machine.namespace)}`;
}
