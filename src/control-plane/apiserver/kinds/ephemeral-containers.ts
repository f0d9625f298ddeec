/** pods/ephemeralcontainers: containers that are put beside those of a Pod that runs, to look into it. They are added, never changed or removed. */
import type { EphemeralContainer, Pod } from '../../../api/core/pod.ts';
import { mayBeLauncherImage } from '../../../api/launcher/image.ts';
import { duplicateCause, forbiddenCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/json.ts';
import { isMirror } from '../access/node-restriction.ts';
import type { AnyObject } from '../types/resource-type.ts';

const FIELD = 'spec.ephemeralContainers';
/** What belongs to containers that are there to stay. */
const NOT_FOR_THEM = ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle', 'restartPolicy'] as const;
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Of what was sent to this subresource, only these containers count. */
export function withEphemeralContainers(old: AnyObject, wanted: AnyObject): AnyObject {
  const { spec } = wanted as unknown as Pod; // only Pods have this subresource
  return { ...old, metadata: wanted.metadata, spec: { ...(old['spec'] as object), ephemeralContainers: spec?.ephemeralContainers } };
}

/** Every reason to refuse the containers that a change adds. */
export function ephemeralCauses(pod: Pod, old: Pod): StatusCause[] {
  const { ephemeralContainers = [] } = pod.spec;
  const before = new Map((old.spec.ephemeralContainers ?? []).map((each) => [each.name, each]));
  const added = ephemeralContainers.map((each, index) => ({ each, at: `${FIELD}[${index}]` })).filter(({ each }) => !before.has(each.name));
  return [
    ...(added.length > 0 ? podCauses(pod) : []),
    ...[...before.values()].flatMap((each) => changeCauses(each, ephemeralContainers)),
    ...added.flatMap(({ each, at }) => containerCauses(pod, each, at)),
  ];
}

function podCauses(pod: Pod): StatusCause[] {
  if (isMirror(pod)) return [forbiddenCause(FIELD, 'static pods do not support ephemeral containers')];
  if (!pod.spec.containers.some(({ image = '' }) => mayBeLauncherImage(image))) return [];
  const why =
    'a launcher Pod is the QEMU of a machine, beside which no container runs: `virtctl console` and `virtctl exec` reach the guest, `virtctl why` tells of its Pod';
  return [forbiddenCause(FIELD, why)];
}

function changeCauses(before: EphemeralContainer, now: readonly EphemeralContainer[]): StatusCause[] {
  const found = now.find(({ name }) => name === before.name);
  if (!found) return [forbiddenCause(FIELD, `existing ephemeral containers ${JSON.stringify(before.name)} may not be removed`)];
  return deepEqual(found, before)
    ? []
    : [forbiddenCause(FIELD, `existing ephemeral containers ${JSON.stringify(before.name)} may not be changed`)];
}

function containerCauses({ spec }: Pod, container: EphemeralContainer, at: string): StatusCause[] {
  const { name, image, targetContainerName, resources, volumeMounts = [] } = container;
  const { ephemeralContainers = [] } = spec;
  const sameName = [...(spec.initContainers ?? []), ...spec.containers, ...ephemeralContainers].filter((each) => each.name === name);
  const isTarget = spec.containers.some((each) => each.name === targetContainerName);
  const forbidden = NOT_FOR_THEM.filter((field) => container[field] !== undefined);
  return [
    ...(name ? [] : [requiredCause(`${at}.name`)]),
    ...(name && !NAME.test(name)
      ? [invalidCause(`${at}.name`, name, 'a name has lower case letters, digits and "-" only, 63 at most')]
      : []),
    ...(sameName.length > 1 ? [duplicateCause(`${at}.name`, name)] : []),
    ...(image ? [] : [requiredCause(`${at}.image`)]),
    ...forbidden.map((field) => forbiddenCause(`${at}.${field}`, 'cannot be set for an Ephemeral Container')),
    ...(Object.keys(resources ?? {}).length > 0 ? [forbiddenCause(`${at}.resources`, 'cannot be set for an Ephemeral Container')] : []),
    ...volumeMounts.flatMap((mount, index) =>
      mount.subPath ? [forbiddenCause(`${at}.volumeMounts[${index}].subPath`, 'cannot be set for an Ephemeral Container')] : [],
    ),
    ...(targetContainerName && !isTarget
      ? [{ reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(targetContainerName)}`, field: `${at}.targetContainerName` }]
      : []),
  ];
}
