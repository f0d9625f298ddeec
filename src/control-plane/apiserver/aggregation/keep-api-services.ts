/** Keeps APIService objects true: those of local groups exist, and each says in its `Available` condition whether it can answer. */
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import { timestamp } from '../../../base/timestamp.ts';
import type { Store } from '../../store/store.ts';
import type { SelfRequest } from '../bootstrap.ts';
import { CRD_PREFIX, type ResourceRegistry } from '../types/resource-registry.ts';
import type { AnyObject } from '../types/resource-type.ts';
import type { AggregatedApis } from './aggregated-apis.ts';
import { type Availability, decideAvailability, type ObservedApiService } from './decide-availability.ts';
import { localApiServices } from './local-api-services.ts';

export type ApiServiceKeeperOptions = {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly aggregated: AggregatedApis;
  readonly request: SelfRequest;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};
type Round = Omit<ApiServiceKeeperOptions, 'signal' | 'log'>;
type Condition = Availability & { readonly type: string; readonly lastTransitionTime: string };

const API_SERVICES = 'apiregistration.k8s.io/apiservices/';
const PATH = '/apis/apiregistration.k8s.io/v1/apiservices';
const SERVICES = 'core/services/';
const SLICES = 'discovery.k8s.io/endpointslices/';
const INTERVAL_MS = 30_000;
const SETTLE_MS = 50;

/** Runs until the signal aborts: now, on every change of something it depends on, when a server is lost, and every half minute. */
export async function keepApiServices(options: ApiServiceKeeperOptions): Promise<void> {
  const { store, aggregated, clock, log, signal } = options;
  let poke = new AbortController();
  aggregated.whenLost(() => poke.abort());
  const stops = [API_SERVICES, CRD_PREFIX, SERVICES, SLICES].map((prefix) => store.watch(prefix, store.revision, () => poke.abort()));
  while (!signal.aborted) {
    poke = new AbortController();
    try {
      await keepLocalApiServices(options);
      await keepConditions(options, ({ service }) => service !== undefined);
    } catch (error) {
      log.warn('the state of APIServices cannot be written, trying again', { error: messageOf(error) });
    }
    await clock.sleep(INTERVAL_MS, AbortSignal.any([signal, poke.signal]));
    await clock.sleep(SETTLE_MS, signal); // changes come in groups, and our own are among them
  }
  for (const stop of stops) stop();
}

function servicesOf(store: Store): AnyObject[] {
  return store.list(API_SERVICES).map(({ value }) => value as AnyObject); // only objects that went through the write pipeline are in the store
}

/** One round about the groups that are served here, which needs nobody else. */
export async function keepLocalApiServices(options: Round): Promise<void> {
  const { store, registry, request } = options;
  const { missing, superfluous } = localApiServices(registry, servicesOf(store));
  await Promise.all([
    ...missing.map((object) => expectOk(request('POST', PATH, object))),
    ...superfluous.map((name) => expectOk(request('DELETE', `${PATH}/${name}`))),
  ]);
  await keepConditions(options, ({ service }) => service === undefined);
}

async function keepConditions(options: Round, isMeant: (found: { service: unknown }) => boolean): Promise<void> {
  const meant = servicesOf(options.store).filter((apiService) => isMeant({ service: serviceOf(apiService) }));
  await Promise.all(meant.map((apiService) => keepCondition(options, apiService)));
}

async function keepCondition(options: Round, apiService: AnyObject): Promise<void> {
  const { request, clock } = options;
  const availability = decideAvailability(await observe(options, apiService));
  const old = conditionsOf(apiService).find(({ type }) => type === 'Available');
  const { status, reason, message } = availability;
  if (old && old.status === status && old.reason === reason && old.message === message) return;
  const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(clock.now());
  const others = conditionsOf(apiService).filter(({ type }) => type !== 'Available');
  const conditions = [...others, { type: 'Available', ...availability, lastTransitionTime }];
  await expectOk(request('PATCH', `${PATH}/${apiService.metadata.name}/status`, { status: { conditions } }));
}

function conditionsOf({ status }: AnyObject): Condition[] {
  return isObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
}

async function observe({ store, aggregated }: Round, apiService: AnyObject): Promise<ObservedApiService> {
  const service = serviceOf(apiService);
  const isServiceThere = service !== undefined && store.get(`${SERVICES}${service.namespace}/${service.name}`) !== undefined;
  const hasEndpoints = service !== undefined && isServiceThere && hasReadyEndpoint(store, service);
  const discoveryProblem = hasEndpoints ? await aggregated.problemOf(apiService) : undefined;
  return { service, isServiceThere, hasEndpoints, discoveryProblem };
}

function serviceOf(apiService: AnyObject): ObservedApiService['service'] {
  const spec = apiService['spec'];
  const service = isObject(spec) ? spec['service'] : undefined;
  if (!isObject(service)) return undefined;
  const { namespace, name, port } = service;
  return { namespace: String(namespace ?? ''), name: String(name ?? ''), port: typeof port === 'number' ? port : 443 };
}

function hasReadyEndpoint(store: Store, { namespace, name }: { namespace: string; name: string }): boolean {
  return store.list(`${SLICES}${namespace}/`).some(({ value }) => {
    const { metadata, endpoints } = value as AnyObject & { endpoints?: readonly JsonObject[] | null }; // its schema was checked when it was written
    if (metadata.labels?.['kubernetes.io/service-name'] !== name) return false;
    return (endpoints ?? []).some(({ conditions }) => !isObject(conditions) || conditions['ready'] !== false);
  });
}

/** An object that is there or gone already is what was wanted. */
async function expectOk(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  if (!response.ok && response.status !== 404 && response.status !== 409) throw new Error(await response.text());
}
