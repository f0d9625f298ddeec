/** The webhooks of virt-api: `/validate/RESOURCE` for every kind of ours and for definitions of kinds, `/mutate/RESOURCE` for those that are completed. */
import { randomUUID } from 'node:crypto';
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { hostDiskFoldersFor } from '../../api/kubevirt/configuration/host-disk-folders.ts';
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import { refusedFields } from '../../api/kubevirt/refused-fields.ts';
import { isDeleting } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import { causesText } from '../../base/causes.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, type StatusCause } from '../../base/errors.ts';
import { deepEqual, type JsonObject } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import type { FollowedPresets } from '../../client/follow-presets.ts';
import { type AdmissionRequest, admissionRequestOf, type ReviewedObject } from './admission-request.ts';
import { reviewCrdDeletion } from './protect-crds.ts';
import { newCauses } from './ratchet.ts';
import { reviewEviction } from './review-eviction.ts';
import { RULES, type Rules } from './rules-table.ts';

type AdmittedKind = Rules & { readonly resource: Resource };
type World = {
  readonly client: Client;
  readonly clock: Clock;
  readonly configuration: FollowedConfiguration;
  readonly presets: FollowedPresets;
  readonly log: Logger;
  /** Told of each object that is to be made, of which nothing is wrong. */
  readonly onCreate?: (kind: string, namespace: string) => void;
};
type Answer = (request: AdmissionRequest, world: World) => JsonObject | Promise<JsonObject>;

/** The API server takes objects of up to 3 MiB, and a review holds two of them. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Nobody reads more, and an answer that says all that is wrong with a long list is larger than the list. */
const MOST_CAUSES = 100;

const ANSWERS: ReadonlyMap<string, Answer> = new Map([
  ...KINDS.flatMap((resource) => answersFor({ resource, ...RULES[resource.kind] })),
  [
    '/validate/evictions',
    (request, { client, configuration }) => reviewEviction(request, { client, configuration: configuration.current }),
  ],
  ['/validate/customresourcedefinitions', (request, { client }) => reviewCrdDeletion(request, client)],
]);

/** True for a path that the API server asks for a review under. */
export function isReviewPath(pathname: string): boolean {
  return ANSWERS.has(pathname);
}

/** Answers an AdmissionReview with one. */
export async function answerReview(request: Request, pathname: string, world: World): Promise<Response> {
  const answer = ANSWERS.get(pathname);
  if (!answer) throw new ApiError('NotFound', 'the server could not find the requested resource');
  if (request.method !== 'POST') throw new ApiError('MethodNotAllowed', `${request.method} is not possible here, only POST`);
  const review = admissionRequestOf(await jsonOf(request));
  await world.configuration.known;
  const response = { uid: review.uid, ...(await judged(() => answer(review, world), { pathname, log: world.log })) };
  return Response.json({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response });
}

/** Whoever reaches us may ask, also about what no schema has looked at; of what the API server asks about it would be a fault of ours. */
async function judged(
  judge: () => JsonObject | Promise<JsonObject>,
  asked: { readonly pathname: string; readonly log: Logger },
): Promise<JsonObject> {
  try {
    return await judge();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    asked.log.error('cannot review an object', {
      object: asked.pathname,
      because: 'somewhere it has another type than its schema asks for',
      error,
    });
    throw new ApiError('BadRequest', 'the object has another type somewhere than its schema asks for', { cause: error });
  }
}

function answersFor(kind: AdmittedKind): [path: string, answer: Answer][] {
  const { resource, mutate } = kind;
  return [
    [`/validate/${resource.plural}`, (request, world) => validated(kind, request, world)],
    ...(mutate ? [[`/mutate/${resource.plural}`, (request, world) => mutated(kind, mutate, { request, world })] as [string, Answer]] : []),
  ];
}

async function validated(kind: AdmittedKind, request: AdmissionRequest, { client, configuration, onCreate }: World): Promise<JsonObject> {
  const { object, oldObject } = request;
  if (!object || (await kind.isElsewhere?.(client))) return { allowed: true };
  const isSame = oldObject !== undefined && deepEqual(object['spec'], oldObject['spec']);
  // Whoever takes the finalizers off a deleted object must not be held up by what is wrong with it.
  const isSettled = isSame || isDeleting(object);
  const now = configuration.current;
  const hostDiskFolders = hostDiskFoldersFor(now.hostDiskFolders, object.metadata.namespace);
  const found = (each: ReviewedObject) => expandedCauses(kind, each, { client, configuration: { ...now, hostDiskFolders } });
  const wrong = isSettled ? [] : newCauses(await found(object), oldObject ? await found(oldObject) : []);
  const causes = [...(kind.validateChange?.(request) ?? []), ...((await kind.validateBeside?.(request, client)) ?? []), ...wrong];
  if (causes.length > 0) return denied(kind, object.metadata.name, causes);
  if (request.operation === 'CREATE' && !request.isDryRun) onCreate?.(kind.resource.kind, object.metadata.namespace ?? '');
  return { allowed: true, warnings: isSettled ? [] : (kind.warn?.(object) ?? []) };
}

type Judged = { readonly client: Client; readonly configuration: ClusterConfiguration };

/** What is wrong with the object as it is, with all that it names written out. */
async function expandedCauses(kind: AdmittedKind, object: ReviewedObject, { client, configuration }: Judged): Promise<StatusCause[]> {
  const expanded = kind.expand ? await kind.expand(object, client) : { object };
  if ('causes' in expanded) return [...refusedFields(kind.resource.kind, object), ...expanded.causes];
  return causesOf(kind, expanded.object, configuration);
}

/** Fields that we do not honour, then the rules; a part is not called missing when it is there in a way that we refuse. */
function causesOf({ resource, validate }: AdmittedKind, object: JsonObject, configuration: ClusterConfiguration): StatusCause[] {
  const refused = refusedFields(resource.kind, object);
  const explained = new Set(refused.flatMap(({ field }) => placesAbove(field)));
  const isExplained = ({ reason, field }: StatusCause): boolean => reason === 'FieldValueRequired' && explained.has(field);
  return [...refused, ...(validate?.(object, configuration) ?? []).filter((cause) => !isExplained(cause))];
}

/** `a.b` and `a` of `a.b.c`. */
function placesAbove(field: string): string[] {
  const parts = field.split('.').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}

function denied({ resource: { kind, group } }: AdmittedKind, name: string, all: readonly StatusCause[]): JsonObject {
  const causes = all.slice(0, MOST_CAUSES);
  const message = `${kind}.${group} "${name}" is invalid: ${causesText(causes)}`;
  // kubectl prints the causes one by one when it finds them in an Invalid answer.
  return { allowed: false, status: { status: 'Failure', code: 422, reason: 'Invalid', message, details: { name, group, kind, causes } } };
}

type Asked = { readonly request: AdmissionRequest; readonly world: World };

async function mutated(kind: AdmittedKind, mutate: NonNullable<Rules['mutate']>, { request, world }: Asked): Promise<JsonObject> {
  const { object } = request;
  if (!object) return { allowed: true };
  const { client, clock, configuration, presets } = world;
  const given = { client, presets, newUuid: randomUUID(), now: timestamp(clock.now()), configuration: configuration.current };
  const mutation = await mutate({ ...request, object }, given);
  if ('causes' in mutation) return denied(kind, object.metadata.name, mutation.causes);
  const { patch, warnings } = Array.isArray(mutation) ? { patch: mutation, warnings: [] } : mutation;
  const allowed = { allowed: true, ...(warnings.length > 0 && { warnings }) };
  if (patch.length === 0) return allowed;
  return { ...allowed, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

async function jsonOf(request: Request): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new ApiError('RequestEntityTooLarge', `a review has at most ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw new ApiError('BadRequest', 'the body is not JSON', { cause: error });
  }
}
