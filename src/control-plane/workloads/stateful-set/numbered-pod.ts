/** The Pod of a StatefulSet with one number: its name, its host name and its claims stay the same for ever. Pure. */
import { LABEL_CONTROLLER_REVISION_HASH } from '../../../api/core/controller-revision.ts';
import type { Pod, PodVolume } from '../../../api/core/pod.ts';
import type { PodTemplate } from '../../../api/core/pod-template.ts';
import type { StatefulSet } from '../../../api/core/stateful-set.ts';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { podFrom } from '../pod-state.ts';

const LABEL_POD_NAME = 'statefulset.kubernetes.io/pod-name';
const LABEL_POD_INDEX = 'apps.kubernetes.io/pod-index';

export function podName({ metadata }: StatefulSet, number: number): string {
  return `${metadata.name}-${number}`;
}

/** The number in the name of a Pod of this set; undefined when it has none. */
export function numberOf(set: StatefulSet, { metadata }: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const rest = metadata.name.startsWith(prefix) ? metadata.name.slice(prefix.length) : '';
  return /^(?:0|[1-9]\d{0,9})$/.test(rest) ? Number(rest) : undefined;
}

/** The Pod with this number, of one revision of the template. */
export function numberedPod(set: StatefulSet, { number, template, hash }: { number: number; template: PodTemplate; hash: string }): Pod {
  const name = podName(set, number);
  const labels = { [LABEL_CONTROLLER_REVISION_HASH]: hash, [LABEL_POD_NAME]: name, [LABEL_POD_INDEX]: `${number}` };
  const pod = podFrom({ owner: set, template, name, labels });
  const claimed = claimTemplates(set).map(
    ({ metadata }): PodVolume => ({ name: metadata.name, persistentVolumeClaim: { claimName: claimName(set, metadata.name, number) } }),
  );
  const others = (pod.spec.volumes ?? []).filter((volume) => !claimed.some((each) => each.name === volume.name));
  const volumes = [...others, ...claimed];
  const { serviceName } = set.spec;
  return {
    ...pod,
    spec: { ...pod.spec, hostname: name, ...(serviceName && { subdomain: serviceName }), ...(volumes.length > 0 && { volumes }) },
  };
}

/** The claims of the Pod with this number. They outlive it, and the set, too, unless it says that they go with it. */
export function claimsOf(set: StatefulSet, number: number): PersistentVolumeClaim[] {
  const goWithSet = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
  return claimTemplates(set).map(({ metadata, spec }) => ({
    apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIMS),
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(set, metadata.name, number),
      namespace: set.metadata.namespace,
      labels: { ...metadata.labels, ...set.spec.selector.matchLabels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ...(goWithSet && {
        ownerReferences: [{ apiVersion: set.apiVersion, kind: set.kind, name: set.metadata.name, uid: set.metadata.uid ?? '' }],
      }),
    },
    spec,
  }));
}

/** Whether a claim has the name of one of this set's. */
export function isClaimOf(set: StatefulSet, claim: PersistentVolumeClaim): boolean {
  return numberOfClaim(set, claim) !== undefined;
}

/** Of which number a claim is by its name; undefined when it is none of this set's. */
export function numberOfClaim(set: StatefulSet, { metadata }: PersistentVolumeClaim): number | undefined {
  const number = /-(\d+)$/.exec(metadata.name)?.[1];
  if (number === undefined) return undefined;
  const rest = `-${set.metadata.name}-${number}`;
  const isOf = ({ metadata: { name } }: { metadata: { name: string } }) =>
    metadata.name.length === name.length + rest.length && metadata.name.startsWith(name);
  return metadata.name.endsWith(rest) && claimTemplates(set).some(isOf) ? Number(number) : undefined; // data-web-2-0 is not of web
}

function claimTemplates({ spec }: StatefulSet): NonNullable<StatefulSet['spec']['volumeClaimTemplates']> {
  return spec.volumeClaimTemplates ?? [];
}

function claimName(set: StatefulSet, template: string, number: number): string {
  return `${template}-${podName(set, number)}`;
}
