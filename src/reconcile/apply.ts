/** Performs writes. The only place that knows what AlreadyExists, NotFound and Conflict mean: what was decided on has changed. */
import type { Binding } from '../api/core/binding.ts';
import { PODS } from '../api/core/pod.ts';
import { knownResource } from '../api/known-resources.ts';
import type { KubeObject, ObjectMeta, Ref } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError, TerminalError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import type { Action } from './decision.ts';

/** Finds the URL of a kind that `knownResource` does not list. */
export type ResourceOf = (type: { readonly apiVersion: string; readonly kind: string }) => Resource | undefined;

export type ApplyOptions = {
  readonly client: Client;
  readonly clock: Clock;
  /** Whoever is told to stop waits for a write only a little longer. */
  readonly signal?: AbortSignal;
  readonly resourceOf?: ResourceOf;
};

/** What a write left behind, for whoever must not act again before having seen it. */
export type Written = { readonly wrote: KubeObject } | { readonly deleted: Ref };

/** The world is not as it was when this was decided: decide again. */
export type LookAgain = { readonly outcome: 'look again'; readonly why: string };
export type Applied = { readonly outcome: 'done'; readonly written?: Written } | LookAgain;

/** No write is waited on for longer: a connection may die without a word. */
const DEADLINE_MS = 60_000;
const STOPPING_MS = 2_000;

/** Performs one action; throws what neither succeeded nor means that the decision was out of date. */
export async function applyAction(action: Action, { client, clock, signal, resourceOf = knownResource }: ApplyOptions): Promise<Applied> {
  const finished = new AbortController();
  const deadline = new AbortController();
  const waitFor = (ms: number) =>
    void clock.sleep(ms, finished.signal).then(() => {
      if (!finished.signal.aborted) deadline.abort(new Error(`no answer within ${ms / 1000}s`));
    });
  const stopping = () => waitFor(STOPPING_MS);
  waitFor(DEADLINE_MS);
  signal?.addEventListener('abort', stopping, { once: true });
  if (signal?.aborted) stopping();
  try {
    return { outcome: 'done', ...(await write(action, { client, resourceOf, signal: deadline.signal })) };
  } catch (error) {
    if (isOutdated(action, error)) return { outcome: 'look again', why: error.message };
    throw error;
  } finally {
    signal?.removeEventListener('abort', stopping);
    finished.abort('finished'); // a reason that the engine would have to make comes with a stack trace
  }
}

type WriteOptions = { readonly client: Client; readonly resourceOf: ResourceOf; readonly signal: AbortSignal };

async function write(action: Action, { client, resourceOf, signal }: WriteOptions): Promise<{ written?: Written }> {
  switch (action.do) {
    case 'create':
      return { written: { wrote: await client.create(find(resourceOf, action.object), action.object, { signal }) } };
    case 'apply': {
      const { object } = action;
      return { written: { wrote: await client.patch(find(resourceOf, object), object.metadata, object, { type: 'apply', signal }) } };
    }
    case 'patch': {
      const { target, patch, subresource, resourceVersion } = action;
      const body = withPreconditions(patch, { uid: target.uid, resourceVersion });
      return { written: { wrote: await client.patch(find(resourceOf, target), target, body, { subresource, signal }) } };
    }
    case 'delete': {
      const { target, gracePeriodSeconds, propagationPolicy, resourceVersion } = action;
      const options = { uid: target.uid, gracePeriodSeconds, propagationPolicy, resourceVersion, signal };
      await client.delete(find(resourceOf, target), target, options);
      return { written: { deleted: target } };
    }
    case 'bind':
      await client.create<KubeObject>({ ...PODS, kind: 'Binding' }, bindingFor(action.pod, action.nodeName), {
        subresource: 'binding',
        signal,
      });
      return {};
    case 'record':
      return {};
  }
}

function find(resourceOf: ResourceOf, type: { readonly apiVersion: string; readonly kind: string }): Resource {
  const resource = resourceOf(type);
  if (!resource) throw new TerminalError(`Cannot write ${type.apiVersion} ${type.kind}: the kind is not known here`);
  return resource;
}

function bindingFor({ namespace, name, uid }: Ref, nodeName: string): Binding {
  return { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid }, target: { kind: 'Node', name: nodeName } };
}

/** In a merge patch the server compares these two with what it has, and refuses when they differ. */
function withPreconditions(
  patch: object & { metadata?: Partial<ObjectMeta> },
  expected: { uid?: string; resourceVersion?: string },
): object {
  const given = Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined));
  return Object.keys(given).length === 0 ? patch : { ...patch, metadata: { ...patch.metadata, ...given } };
}

function isOutdated(action: Action, error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  switch (error.reason) {
    case 'Conflict':
    case 'AlreadyExists':
      return true;
    case 'NotFound':
      return action.do !== 'create' && action.do !== 'apply'; // there it is the namespace or the kind: a failure worth telling
    case 'Invalid': // what Kubernetes calls a patch for another incarnation: an attempt to change the uid
      return (error.details?.causes ?? []).some(({ field }) => field === 'metadata.uid');
    default:
      return false;
  }
}
