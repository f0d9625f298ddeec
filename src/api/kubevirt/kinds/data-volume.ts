/** DataVolume: a PVC and what it is to hold, as CDI publishes it. */
import { kind } from '../../kind.ts';
import { conditionOf, type KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { AGE } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './data-volume-schema.ts';

export type DataVolumeSpec = Static<typeof specSchema>;
export type DataVolumeStatus = Static<typeof statusSchema>;
export type DataVolume = KubeObject & {
  readonly kind: 'DataVolume';
  readonly spec: DataVolumeSpec;
  readonly status?: DataVolumeStatus;
};
export type DataVolumePhase =
  | 'Pending'
  | 'ImportScheduled'
  | 'ImportInProgress'
  | 'CloneScheduled'
  | 'CloneInProgress'
  | 'UploadScheduled'
  | 'UploadReady'
  | 'WaitForFirstConsumer'
  | 'PendingPopulation'
  | 'Succeeded'
  | 'Failed';

/** Kubernetes has the group; where a CDI has it, too, its definitions go before ours. */
export const CDI_GROUP = 'cdi.kubevirt.io';

const ELSEWHERE = 'put the disk at an https address, or into a container image';

export const DATA_VOLUMES = kind<DataVolume>({
  group: CDI_GROUP,
  kind: 'DataVolume',
  plural: 'datavolumes',
  shortNames: ['dv', 'dvs'],
  description: 'A PVC, and what it is to hold.',
  versions: ['v1beta1'],
  remark: 'ours where no CDI is installed; that one goes before ours',
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How far it is' },
    { name: 'Progress', type: 'string', jsonPath: '.status.progress', description: 'Of the transfer, in percent' },
    { name: 'Restarts', type: 'integer', jsonPath: '.status.restartCount', description: 'How often its Pod has begun again' },
    AGE,
  ],
  subresources: { status: {} },
  roles: USUAL_ROLES,
  access: {
    'virt-controller': [
      { verbs: ['get', 'list', 'watch', 'create'] },
      { verbs: ['delete'], because: 'A restore in place deletes what had filled the disk.' },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
  refused: {
    checkpoints: 'disks of other systems are not copied while these run',
    finalCheckpoint: 'disks of other systems are not copied while these run',
    preallocation: 'disks take the room of what is in them',
    priorityClassName: 'importers have no priority of their own',
    sourceRef: 'there are no DataSources',
    'source.gcs': ELSEWHERE,
    'source.imageio': ELSEWHERE,
    'source.s3': ELSEWHERE,
    'source.vddk': ELSEWHERE,
    'source.http': 'an importer has no Secrets and authorities of its own',
    'source.registry': 'the node pulls, with its own logins and authorities',
    storage: 'a PVC is not chosen by labels or filled by others',
    pvc: 'a PVC is not chosen by labels or filled by others',
  },
});

/** How far it is; nothing was said yet when it is undefined. */
export function phaseOf({ status }: DataVolume): DataVolumePhase | undefined {
  return status?.phase as DataVolumePhase | undefined; // ours, or that of a CDI, whose words these are
}

/** A machine may use its PVC: it is filled, or nothing has to be written to it before its first user. */
export function isUsable(dataVolume: DataVolume): boolean {
  const phase = phaseOf(dataVolume);
  const { blank, snapshot } = dataVolume.spec.source ?? {};
  return (
    phase === 'Succeeded' || ((phase === 'WaitForFirstConsumer' || phase === 'PendingPopulation') && (blank ?? snapshot) !== undefined)
  );
}

/** It does not come further by itself, or may not: what it says of why is its condition Running. */
export function hasFailed(dataVolume: DataVolume): boolean {
  const running = conditionOf(dataVolume.status?.conditions, 'Running');
  const isStuck = running?.status === 'False' && (running.reason === 'Error' || running.reason === 'ImagePullFailed');
  return phaseOf(dataVolume) === 'Failed' || isStuck;
}
