/** Empties namespaces and custom resources that are being deleted, and lets them go when nothing is left. */
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { StoreEvent } from '../../store/entry.ts';
import type { Store } from '../../store/store.ts';
import type { SelfRequest } from '../bootstrap.ts';
import { CLEANUP_FINALIZER } from '../kinds/custom-resource-definition.ts';
import { CRD_PREFIX, type ResourceRegistry } from '../types/resource-registry.ts';
import { type AnyObject, type ResourceType, storePrefix } from '../types/resource-type.ts';

const NAMESPACE_PREFIX = 'core/namespaces/';
const RETRY_MS = 1000;

export type CleanupOptions = {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly request: SelfRequest;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

/** Runs until the signal aborts. */
export function startCleanup(options: CleanupOptions): void {
  const { store, clock, log, signal } = options;
  const due = new Set<string>();
  let isRunning = false;

  const stop = store.watch('', store.revision, (event) => {
    for (const key of concerned(store, event)) wake(key);
  });
  signal.addEventListener('abort', stop, { once: true });
  for (const { key, value } of [...store.list(NAMESPACE_PREFIX), ...store.list(CRD_PREFIX)]) if (isDeleting(value)) wake(key);

  function wake(key: string): void {
    due.add(key);
    if (!isRunning) void run();
  }

  async function run(): Promise<void> {
    isRunning = true;
    for (const key of due) {
      if (signal.aborted) break;
      due.delete(key);
      try {
        await (key.startsWith(CRD_PREFIX) ? emptyDefinition(options, key) : emptyNamespace(options, key));
      } catch (error) {
        log.warn('cleanup failed, trying again', { key, error: messageOf(error) });
        await clock.sleep(RETRY_MS, signal);
        due.add(key);
      }
    }
    isRunning = false;
  }
}

/** A namespace or definition that begins to be deleted, or one that is being deleted and has just lost an object. */
function concerned(store: Store, { key, entry }: StoreEvent): string[] {
  if (entry) return (key.startsWith(NAMESPACE_PREFIX) || key.startsWith(CRD_PREFIX)) && isDeleting(entry.value) ? [key] : [];
  const [group = '', plural = '', namespace = ''] = key.split('/');
  const owners = [`${NAMESPACE_PREFIX}/${namespace}`, `${CRD_PREFIX}/${plural}.${group}`];
  return owners.filter((owner) => isDeleting(store.get(owner)?.value));
}

function isDeleting(value: unknown): boolean {
  return (value as AnyObject | undefined)?.metadata.deletionTimestamp !== undefined; // every stored value is an object with metadata
}

async function emptyNamespace({ store, registry, request }: CleanupOptions, key: string): Promise<void> {
  const name = key.slice(NAMESPACE_PREFIX.length + 1);
  if (!isDeleting(store.get(key)?.value)) return;
  const types = registry.resources().filter((type) => type.isNamespaced && type.verbs.includes('deletecollection'));
  const filled = types.filter((type) => store.list(storePrefix(type, name)).length > 0);
  for (const type of filled) await expectOk(request('DELETE', collectionPath(type, name)));
  if (types.some((type) => store.list(storePrefix(type, name)).length > 0)) return; // each deletion that completes calls us again
  await expectOk(request('PUT', `/api/v1/namespaces/${name}/finalize`, { metadata: { name }, spec: { finalizers: [] } }));
}

async function emptyDefinition({ store, registry, request }: CleanupOptions, key: string): Promise<void> {
  const crd = store.get(key)?.value as AnyObject | undefined; // written by the definition's own strategy
  if (!crd || !isDeleting(crd)) return;
  const { name, finalizers = [] } = crd.metadata;
  const type = registry.resources().find(({ plural, group }) => `${plural}.${group}` === name);
  if (type) {
    const namespaces = new Set(store.list(storePrefix(type)).map((entry) => entry.key.split('/')[2] ?? ''));
    for (const namespace of namespaces) await expectOk(request('DELETE', collectionPath(type, namespace)));
    if (store.list(storePrefix(type)).length > 0) return; // each deletion that completes calls us again
  }
  const rest = finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
  if (rest.length === finalizers.length) return;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  await expectOk(request('PATCH', path, { metadata: { finalizers: rest } }));
}

function collectionPath({ group, version, plural, isNamespaced }: ResourceType, namespace: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return isNamespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
}

async function expectOk(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  if (!response.ok && response.status !== 404) throw new Error(await response.text());
}
