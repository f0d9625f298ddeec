/**
 * One question to a conversion webhook, and what its answer has to be: every object, in its order, in the version that was asked for, and
 * still the same one. Of the metadata a webhook may change labels and annotations.
 */
import { randomUUID } from 'node:crypto';
import { ApiError, messageOf } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { AskWebhook } from '../admission/webhook.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';

const TIMEOUT_SECONDS = 30;
/** Of a list, as large as what was sent and several times more. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

type Asked = {
  readonly type: ResourceType;
  readonly objects: readonly AnyObject[];
  /** What they are to become. */
  readonly apiVersion: string;
  readonly ask: AskWebhook | undefined;
  readonly signal: AbortSignal;
};

export async function convert({ type, objects, apiVersion, ask, signal }: Asked): Promise<AnyObject[]> {
  try {
    if (!ask || !type.converter) throw new Error('this server asks no webhooks');
    const uid = randomUUID();
    const request = { uid, desiredAPIVersion: apiVersion, objects };
    const body = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', request };
    const post = { config: type.converter, body, timeoutSeconds: TIMEOUT_SECONDS, signal, maxAnswerBytes: MAX_ANSWER_BYTES };
    return convertedObjects(await ask(post), { uid, objects, apiVersion });
  } catch (error) {
    if (signal.aborted) throw error;
    const from = objects[0]?.apiVersion;
    throw new ApiError('InternalError', `conversion webhook for ${from}, Kind=${type.kind} failed: ${messageOf(error)}`, { cause: error });
  }
}

type Expected = { readonly uid: string; readonly objects: readonly AnyObject[]; readonly apiVersion: string };

/** The objects of an answer; throws when it breaks the protocol. */
function convertedObjects(answer: unknown, { uid, objects, apiVersion }: Expected): AnyObject[] {
  const response = isObject(answer) && answer['kind'] === 'ConversionReview' ? answer['response'] : undefined;
  if (!isObject(response)) throw new Error('the answer is not a ConversionReview with a response');
  if (response['uid'] !== uid) throw new Error(`expected response.uid="${uid}", got ${JSON.stringify(response['uid'])}`);
  const result = isObject(response['result']) ? response['result'] : {};
  if (result['status'] !== 'Success')
    throw new Error(String(result['message'] || `response.result.status was '${String(result['status'])}', not 'Success'`));
  const made: unknown = response['convertedObjects'];
  const count = Array.isArray(made) ? made.length : 0;
  if (!Array.isArray(made) || count !== objects.length) throw new Error(`webhook returned ${count} objects, expected ${objects.length}`);
  return objects.map((object, index) => sameObject(object, made[index], { apiVersion, at: `response.convertedObjects[${index}]` }));
}

function sameObject(object: AnyObject, made: unknown, { apiVersion, at }: { readonly apiVersion: string; readonly at: string }): AnyObject {
  if (!isObject(made)) throw new Error(`invalid ${at}: not an object`);
  const { kind, metadata } = made;
  if (made['apiVersion'] !== apiVersion)
    throw new Error(`invalid groupVersion in ${at}: expected ${apiVersion}, got ${String(made['apiVersion'])}`);
  if (kind !== object.kind) throw new Error(`invalid kind in ${at}: expected ${object.kind}, got ${String(kind)}`);
  if (!isObject(metadata)) throw new Error(`invalid metadata in ${at}: missing`);
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if ((metadata[field] ?? '') !== (object.metadata[field] ?? ''))
      throw new Error(`invalid metadata in ${at}: metadata.${field} must not change`);
  }
  const { labels, annotations } = metadata;
  const { labels: _, annotations: __, ...kept } = object.metadata;
  return {
    ...made,
    apiVersion,
    kind: object.kind,
    metadata: { ...kept, ...texts('labels', labels), ...texts('annotations', annotations) },
  };
}

function texts(field: 'labels' | 'annotations', value: unknown): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isObject(value) || Object.values(value).some((each) => typeof each !== 'string'))
    throw new Error(`metadata.${field} is not a map of texts`);
  return { [field]: value };
}
