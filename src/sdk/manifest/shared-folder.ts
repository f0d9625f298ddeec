/** The volume and the claim of a folder of the host that one machine sees. Pure. */
import {
  ANNOTATION_PROVISIONED_BY,
  type PersistentVolume,
  type PersistentVolumeClaim,
  SHARED_FOLDER_PROVISIONER,
} from '../../api/core/volume.ts';
import { ANNOTATION_SHARED_FOLDER } from '../../api/kubevirt/names.ts';

/** Folders have no size of their own. */
const SIZE = '1Gi';

type ClaimChoices = {
  readonly name: string;
  /** The name of its volume, which nobody else has. */
  readonly volumeName: string;
  readonly isReadOnly: boolean;
  readonly path: string;
};

/** Its volume is made for it alone. */
export function buildFolderClaim({ name, volumeName, isReadOnly, path }: ClaimChoices): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, annotations: { [ANNOTATION_SHARED_FOLDER]: path } },
    spec: {
      accessModes: [modeOf(isReadOnly)],
      storageClassName: '',
      volumeName,
      resources: { requests: { storage: SIZE } },
    },
  };
}

/** For a claim that is there: nobody else gets it, also not one of that name. */
export function buildFolderVolume({ metadata, spec }: PersistentVolumeClaim, path: string): PersistentVolume {
  const { namespace, name, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: spec.volumeName ?? '', annotations: { [ANNOTATION_PROVISIONED_BY]: SHARED_FOLDER_PROVISIONER } },
    spec: {
      accessModes: spec.accessModes ?? [],
      capacity: { storage: SIZE },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, ...(namespace && { namespace }), ...(uid && { uid }) },
      hostPath: { path, type: 'Directory' },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: '',
      volumeMode: 'Filesystem',
    },
  };
}

function modeOf(isReadOnly: boolean): string {
  return isReadOnly ? 'ReadOnlyMany' : 'ReadWriteMany';
}
