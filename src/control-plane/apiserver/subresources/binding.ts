/** POST pods/binding: a scheduler's decision where a Pod runs. It can be made once. */
import type { Pod } from '../../../api/core/pod.ts';
import { ApiError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { changeObject } from '../objects/change-object.ts';
import { decodeBody } from '../request/decode-body.ts';
import { conflict } from '../response/api-errors.ts';
import { respondJson } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

export async function bind(call: Call): Promise<Response> {
  const body = (await decodeBody(call.request)) ?? {};
  const target = isObject(body['target']) ? body['target'] : {};
  const node = target['name'];
  if (typeof node !== 'string' || node === '') throw new ApiError('BadRequest', 'a Binding needs target.name, the name of a node');
  const metadata = isObject(body['metadata']) ? body['metadata'] : {};
  await changeObject(call, (old) => bound(call, old, { node, uid: typeof metadata['uid'] === 'string' ? metadata['uid'] : undefined }));
  return respondJson({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, { status: 201 });
}

function bound({ type, parts }: Call, old: AnyObject, { node, uid }: { node: string; uid: string | undefined }): AnyObject {
  const pod = old as unknown as Pod; // its shape was checked by the schema
  const { name } = pod.metadata;
  if (pod.spec.nodeName) throw conflict(type, name, `pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.metadata.deletionTimestamp) throw conflict(type, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  const others = (pod.status?.conditions ?? []).filter(({ type: each }) => each !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp(parts.clock.now()) };
  return {
    ...old,
    metadata: { ...old.metadata, ...(uid && { uid }) },
    spec: { ...pod.spec, nodeName: node },
    status: { ...pod.status, conditions: [...others, scheduled] },
  };
}
