/** The Pod in which somebody works on the disk of a claim. Pure. */
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { RESOURCE_KVM } from '../../api/kubevirt/names.ts';

export const TOOLS_CONTAINER = 'libguestfs';
/** Where the files of the claim are, or its device. */
const DISK_FOLDER = '/disk';
const DISK_DEVICE = '/dev/vda';
const DISK_FILE = `${DISK_FOLDER}/disk.img`;
const SCRATCH = '/tmp/guestfs';
/** The user that machines on a cluster run as, to whom their disks belong. */
const MACHINE_USER = 107;
/** A Pod that was left behind ends by itself. */
const LONGEST_SECONDS = 86_400;

export type ToolsPodOptions = {
  readonly claim: PersistentVolumeClaim;
  readonly image: string;
  readonly pullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly isRoot?: boolean;
  readonly uid?: number;
  readonly gid?: number;
  readonly fsGroup?: number;
  readonly hasKvm?: boolean;
};

/** Fit for Pod security "restricted", unless somebody asks for root. */
export function toolsPodFor({ claim, image, pullPolicy = 'IfNotPresent', isRoot = false, hasKvm = false, ...ids }: ToolsPodOptions): Pod {
  const { name, namespace } = claim.metadata;
  const isDevice = claim.spec.volumeMode === 'Block';
  const runAsUser = isRoot ? 0 : (ids.uid ?? MACHINE_USER);
  const env = { LIBGUESTFS_BACKEND: 'direct', LIBGUESTFS_PATH: '/usr/local/lib/guestfs/appliance', TMPDIR: SCRATCH, HOME: SCRATCH };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: toolsPodName(name), namespace },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      securityContext: {
        runAsUser,
        runAsGroup: isRoot ? 0 : (ids.gid ?? MACHINE_USER),
        ...(!isRoot && { runAsNonRoot: true, fsGroup: ids.fsGroup ?? MACHINE_USER }),
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: TOOLS_CONTAINER,
          image,
          imagePullPolicy: pullPolicy,
          command: ['sh', '-c', `trap exit TERM; sleep ${LONGEST_SECONDS} & wait`],
          workingDir: isDevice ? SCRATCH : DISK_FOLDER,
          env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
          ...(hasKvm && { resources: { limits: { [RESOURCE_KVM]: '1' } } }),
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'scratch', mountPath: SCRATCH }, ...(isDevice ? [] : [{ name: 'disk', mountPath: DISK_FOLDER }])],
          ...(isDevice && { volumeDevices: [{ name: 'disk', devicePath: DISK_DEVICE }] }),
        },
      ],
      volumes: [
        { name: 'disk', persistentVolumeClaim: { claimName: name } },
        { name: 'scratch', emptyDir: {} },
      ],
    },
  };
}

/** Where the disk of the claim is, inside. */
export function diskOf({ spec }: PersistentVolumeClaim): string {
  return spec.volumeMode === 'Block' ? DISK_DEVICE : DISK_FILE;
}

/** What a shell for a disk that it may not read leaves with. */
export const NOT_READABLE = 77;

/** A shell, unless there is a disk that nobody could do anything with in it. */
export function shellFor(claim: PersistentVolumeClaim): readonly string[] {
  return ['sh', '-c', `if [ -e ${diskOf(claim)} ] && [ ! -r ${diskOf(claim)} ]; then exit ${NOT_READABLE}; fi; exec sh`];
}

/** One for each claim, so that two people do not work on one disk at once. */
function toolsPodName(claimName: string): string {
  return `libguestfs-tools-${claimName}`;
}

/** The Pod that has the claim mounted now; undefined when nobody has. */
export function userOfClaim(pods: readonly Pod[], claimName: string): string | undefined {
  const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const uses = ({ spec }: Pod) => spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claimName);
  return pods.find((pod) => !isOver(pod) && uses(pod))?.metadata.name;
}
