/** A manifest from the few things that people say about a machine. Pure. */
import type { Matcher } from '../../api/kubevirt/instancetype/choices-table.ts';
import type { RunStrategy, VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { Disk, VmiSpec, Volume } from '../../api/kubevirt/vmi-spec-schema.ts';

export type AccessCredential = NonNullable<VmiSpec['accessCredentials']>[number];

/** A volume as it is written on the command line: an image or a claim, with what goes with it. */
export type VolumeChoice = { readonly source: string; readonly name?: string; readonly bootOrder?: number };

export type FolderChoice = { readonly claim: string; readonly name: string; readonly isReadOnly: boolean };

export type VmChoices = {
  readonly name: string;
  readonly namespace?: string;
  readonly runStrategy: RunStrategy;
  /** Left to the instance type when there is one. */
  readonly memory?: string;
  readonly instancetype?: Matcher;
  readonly preference?: Matcher;
  readonly cpus?: number;
  readonly gracePeriodSeconds: number;
  readonly images: readonly VolumeChoice[];
  readonly claims: readonly VolumeChoice[];
  /** Claims whose folders the guest sees as such. */
  readonly folders?: readonly FolderChoice[];
  readonly userDataBase64?: string;
  readonly networkDataBase64?: string;
  readonly accessCredentials?: readonly AccessCredential[];
};

/** Every disk is written out, so that the manifest says all there is to know. */
export function buildVm(choices: VmChoices): VirtualMachine {
  const { name, namespace, runStrategy, memory, cpus, gracePeriodSeconds, accessCredentials = [], instancetype, preference } = choices;
  const volumes = volumesOf(choices);
  const { folders = [] } = choices;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, ...(namespace && { namespace }) },
    spec: {
      runStrategy,
      ...(instancetype && { instancetype }),
      ...(preference && { preference }),
      template: {
        metadata: { labels: { 'kubevirt.io/vm': name } },
        spec: {
          terminationGracePeriodSeconds: gracePeriodSeconds,
          domain: {
            ...(cpus !== undefined && { cpu: { cores: cpus } }),
            ...(memory !== undefined && { memory: { guest: memory } }),
            devices: {
              disks: volumes.map(({ disk }) => disk),
              ...(folders.length > 0 && { filesystems: folders.map((folder) => ({ name: folder.name, virtiofs: {} })) }),
            },
          },
          ...(accessCredentials.length > 0 && { accessCredentials: [...accessCredentials] }),
          volumes: [...volumes.map(({ volume }) => volume), ...folders.map(folderVolume)],
        },
      },
    },
  };
}

function folderVolume({ claim, name, isReadOnly }: FolderChoice): Volume {
  return { name, persistentVolumeClaim: { claimName: claim, ...(isReadOnly && { readOnly: true }) } };
}

function volumesOf({ name, images, claims, userDataBase64, networkDataBase64 }: VmChoices): { volume: Volume; disk: Disk }[] {
  const shown = (volume: Volume, bootOrder?: number) => ({
    volume,
    disk: { name: volume.name, disk: { bus: 'virtio' as const }, ...(bootOrder !== undefined && { bootOrder }) },
  });
  const cloudInit = { ...(userDataBase64 && { userDataBase64 }), ...(networkDataBase64 && { networkDataBase64 }) };
  return [
    ...images.map((image, index) =>
      shown({ name: image.name ?? `${name}-containerdisk-${index}`, containerDisk: { image: image.source } }, image.bootOrder),
    ),
    ...claims.map((claim) =>
      shown({ name: claim.name ?? claim.source, persistentVolumeClaim: { claimName: claim.source } }, claim.bootOrder),
    ),
    ...(Object.keys(cloudInit).length > 0 ? [shown({ name: 'cloudinitdisk', cloudInitNoCloud: cloudInit })] : []),
  ];
}
