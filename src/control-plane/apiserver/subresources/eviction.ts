/** POST pods/eviction: a polite deletion, as `kubectl drain` asks for it. A PodDisruptionBudget may refuse it for now. */

import { isPodFinal, type Pod } from '../../../api/core/pod.ts';
import { POD_DISRUPTION_BUDGETS, type PodDisruptionBudget } from '../../../api/core/pod-disruption-budget.ts';
import { withCondition } from '../../../api/kubevirt/conditions.ts';
import { isDeleting } from '../../../api/meta.ts';
import { isApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { changeObject } from '../objects/change-object.ts';
import { decodeBody } from '../request/decode-body.ts';
import { type DeleteOptions, deleteOptions } from '../request/query.ts';
import { respondJson } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { type AnyObject, type ResourceType, storePrefix } from '../types/resource-type.ts';
import { deleteObject } from '../verbs/delete.ts';
import { currentObject } from '../verbs/get.ts';
import { decideEviction, takeOne } from './decide-eviction.ts';

const MAX_TRIES = 5;

type PodDisruption = { readonly DisruptionTarget: 'EvictionByEvictionAPI' };
const EVICTED = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' } as const;

export async function evict(call: Call): Promise<Response> {
  const body = (await decodeBody(call.request)) ?? {};
  const stated = isObject(body['deleteOptions']) ? body['deleteOptions'] : {};
  const options = deleteOptions(call.query, stated);
  await assertAdmitted(call, body, options);
  await evictWithin(call, options);
  return respondJson({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, { status: 201 });
}

/** Webhooks see the eviction, not the Pod. */
async function assertAdmitted(call: Call, body: JsonObject, { isDryRun }: DeleteOptions): Promise<void> {
  const { parts, type, path, identity, request } = call;
  const { metadata } = currentObject(call);
  const { name, namespace } = metadata;
  const object = { ...body, apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } } as AnyObject; // named as the request is
  const asked = { operation: 'CREATE', type, namespace, name, subresource: path.subresource, object, oldObject: undefined } as const;
  const verdict = await parts.hooks.admission?.validate({ ...asked, isDryRun, identity, signal: request.signal });
  call.warnings.push(...(verdict?.warnings ?? []));
}

async function evictWithin(call: Call, options: DeleteOptions): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const pod = currentObject(call) as unknown as Pod; // its shape was checked by the schema
    const eviction = decideEviction(pod, budgetsNear(call));
    switch (eviction.do) {
      case 'take-one':
        await grant(call, eviction.budget, options);
        return markAndDelete(call, pod, options);
      case 'delete':
        return markAndDelete(call, pod, options);
      case 'delete-unchanged':
        try {
          const resourceVersion = options.resourceVersion ?? eviction.resourceVersion;
          return await markAndDelete(call, pod, { ...options, resourceVersion });
        } catch (error) {
          // It may have become ready meanwhile: decide again, unless it was the caller's own condition that failed.
          if (!isApiError(error, 'Conflict') || options.resourceVersion !== undefined || options.uid !== undefined || tries === MAX_TRIES)
            throw error;
        }
    }
  }
}

/** Whoever looks at the Pod while it goes sees that nobody wanted it to end. */
async function markAndDelete(call: Call, pod: Pod, options: DeleteOptions): Promise<void> {
  const { name } = pod.metadata;
  if (options.isDryRun || isDeleting(pod) || isPodFinal(pod)) {
    await deleteObject(call, name, options);
    return;
  }
  const { uid, resourceVersion } = options;
  const ofStatus: Call = { ...call, path: { ...call.path, subresource: 'status' } };
  const { metadata } = await changeObject(ofStatus, (old) => marked(old, { uid, resourceVersion }, call.parts.clock.now()));
  await deleteObject(call, name, { ...options, ...(resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }) });
}

type Expected = { readonly uid: string | undefined; readonly resourceVersion: string | undefined };

function marked(old: AnyObject, { uid, resourceVersion }: Expected, now: number): AnyObject {
  const { status } = old as unknown as Pod; // its shape was checked by the schema
  const conditions = withCondition<PodDisruption>(status?.conditions ?? [], EVICTED, now);
  const metadata = { ...old.metadata, uid: uid ?? old.metadata.uid, resourceVersion: resourceVersion ?? old.metadata.resourceVersion };
  return { ...old, metadata, status: { ...status, conditions } };
}

function budgetsNear({ parts, path }: Call): PodDisruptionBudget[] {
  const type = budgetType(parts);
  const entries = parts.store.list(storePrefix(type, path.namespace));
  return entries.map((entry) => parts.renderer.render(type, entry) as unknown as PodDisruptionBudget); // checked by the schema
}

/** Two who ask at once write one after the other: the second finds what the first has left. */
async function grant(call: Call, budget: PodDisruptionBudget, { isDryRun }: DeleteOptions): Promise<void> {
  const { parts, path } = call;
  const podName = path.name ?? '';
  const now = parts.clock.now();
  if (isDryRun) {
    takeOne(budget, podName, now);
    return;
  }
  const ofBudget: Call = { ...call, type: budgetType(parts), path: { ...path, name: budget.metadata.name, subresource: 'status' } };
  await changeObject(ofBudget, (old) => ({ ...old, status: takeOne(old as unknown as PodDisruptionBudget, podName, now) }));
}

function budgetType({ registry }: Call['parts']): ResourceType {
  const { group, version, plural } = POD_DISRUPTION_BUDGETS;
  const type = registry.find(group, version, plural);
  if (!type) throw new Error('PodDisruptionBudgets are built in');
  return type;
}
