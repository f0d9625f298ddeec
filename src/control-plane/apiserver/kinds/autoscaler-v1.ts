/**
 * autoscaling/v1, which older kubectls create autoscalers with: cpu is all that it can speak of. An autoscaler is stored as one of v2. Through v1 it
 * is created, read and deleted, and not changed: what v1 cannot say would be lost.
 */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { whyNotPathSegment } from '../objects/object-meta-rules.ts';
import { invalid } from '../response/api-errors.ts';
import type { AnyObject, SharedStorage, Strategy } from '../types/resource-type.ts';

const KIND = { kind: 'HorizontalPodAutoscaler', group: 'autoscaling' };

/** How objects of v1 are stored, and stored ones are shown. */
export const AUTOSCALER_V1: SharedStorage = {
  group: 'autoscaling',
  apiVersion: 'autoscaling/v2',
  storedNames: {},
  convert: { toStored, fromStored },
};

/** What Kubernetes checks in both versions beyond the schema. */
export const autoscalerStrategy: Strategy = {
  validate: (object, _old, subresource) => {
    if (subresource === 'status') return [];
    const { minReplicas = 1, maxReplicas, scaleTargetRef } = specOf(object);
    const causes = targetCauses(isObject(scaleTargetRef) ? scaleTargetRef : {});
    if (typeof maxReplicas !== 'number' || maxReplicas < 1)
      causes.push(invalidCause('spec.maxReplicas', maxReplicas, 'must be greater than 0'));
    if (typeof minReplicas !== 'number' || minReplicas < 1)
      causes.push(invalidCause('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
    if (Number(maxReplicas) < Number(minReplicas))
      causes.push(invalidCause('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
    return causes;
  },
};

/** Both become parts of a path, at which we scale with rights of our own. */
function targetCauses(target: JsonObject): StatusCause[] {
  return ['kind', 'name'].flatMap((field) => {
    const [at, value] = [`spec.scaleTargetRef.${field}`, target[field]];
    if (typeof value !== 'string' || value === '') return [requiredCause(at)];
    return whyNotPathSegment(value).map((why) => invalidCause(at, value, why));
  });
}

function toStored(object: JsonObject): JsonObject {
  const { scaleTargetRef, minReplicas = 1, maxReplicas, targetCPUUtilizationPercentage: percent = 80 } = specOf(object);
  const { apiVersion, kind, name } = isObject(scaleTargetRef) ? scaleTargetRef : {};
  const numbers = { minReplicas, maxReplicas, targetCPUUtilizationPercentage: percent };
  const causes = [
    ...Object.entries({ kind, name }).flatMap(([field, value]) =>
      typeof value === 'string' && value !== '' ? [] : [requiredCause(`spec.scaleTargetRef.${field}`)],
    ),
    ...Object.entries(numbers).flatMap(([field, value]) =>
      Number.isInteger(value) && Number(value) > 0 ? [] : [invalidCause(`spec.${field}`, value, 'must be a whole number greater than 0')],
    ),
  ];
  if (causes.length > 0) throw invalid(KIND, String((object as AnyObject).metadata.name ?? ''), causes); // it is an object of ours
  const target = { type: 'Utilization', averageUtilization: percent };
  return {
    ...object,
    spec: {
      scaleTargetRef: { ...(typeof apiVersion === 'string' && { apiVersion }), kind, name },
      minReplicas,
      maxReplicas,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    },
    status: { desiredReplicas: 0 },
  };
}

function fromStored(object: JsonObject): JsonObject {
  const { metrics, behavior: _, ...rest } = specOf(object);
  const { currentReplicas, desiredReplicas = 0, lastScaleTime, currentMetrics } = isObject(object['status']) ? object['status'] : {};
  const [wanted, used] = [cpuOf(metrics, 'target'), cpuOf(currentMetrics, 'current')];
  return {
    ...object,
    spec: { ...rest, ...(wanted !== undefined && { targetCPUUtilizationPercentage: wanted }) },
    status: {
      currentReplicas: currentReplicas ?? 0,
      desiredReplicas,
      ...(lastScaleTime !== undefined && { lastScaleTime }),
      ...(used !== undefined && { currentCPUUtilizationPercentage: used }),
    },
  };
}

/** The share of cpu in the first metric that has one. */
function cpuOf(metrics: unknown, field: 'target' | 'current'): unknown {
  for (const metric of Array.isArray(metrics) ? metrics.filter(isObject) : []) {
    const resource = isObject(metric['resource']) ? metric['resource'] : {};
    const value = isObject(resource[field]) ? resource[field]['averageUtilization'] : undefined;
    if (resource['name'] === 'cpu' && value !== undefined) return value;
  }
  return undefined;
}

function specOf(object: JsonObject): JsonObject {
  return isObject(object['spec']) ? object['spec'] : {};
}
