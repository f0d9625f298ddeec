/** Group versions that another server answers for (APIService objects with a service), and what is known of them. */

import type { Clock } from '../../../base/clock.ts';
import { ApiError, messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { timeoutSignal } from '../../../base/timeout-signal.ts';
import type { Store } from '../../store/store.ts';
import type { Hooks, Identity } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

export type AggregatedGroupVersion = {
  readonly group: string;
  readonly version: string;
  /** As the other server listed them last. */
  readonly resources: readonly object[];
  readonly isStale: boolean;
};

type ApiService = AnyObject & { readonly spec?: { readonly group?: string; readonly version?: string; readonly service?: object | null } };

const PREFIX = 'apiregistration.k8s.io/apiservices/';
const SELF: Identity = { user: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
const DISCOVERY_TIMEOUT_MS = 1500;
/** How long an answer counts; a server that is down is asked again sooner, but not by every client that comes along. */
const FRESH_MS = 5000;
const STALE_MS = 1000;

export class AggregatedApis {
  readonly #store: Store;
  readonly #proxy: Hooks['proxyToService'];
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #lost = new Set<string>();
  #tellLost: () => void = () => {};
  #known = new Map<string, { readonly found: AggregatedGroupVersion; readonly atMs: number; readonly uid: string | undefined }>();

  constructor(options: { store: Store; hooks: Hooks; clock: Clock; log: Logger }) {
    this.#clock = options.clock;
    this.#store = options.store;
    this.#proxy = options.hooks.proxyToService;
    this.#log = options.log;
  }

  /** The APIService that answers for a group version; undefined when it is served here or not at all. */
  find(group: string, version: string): AnyObject | undefined {
    if (group === '') return undefined;
    const service = this.#store.get(`${PREFIX}/${version}.${group}`)?.value as ApiService | undefined; // its schema was checked when it was written
    return service?.spec?.service ? service : undefined;
  }

  /** Calls `tell` when a server that was reached before is no longer: whoever keeps the conditions need not wait to find out. */
  whenLost(tell: () => void): void {
    this.#tellLost = tell;
  }

  /** Hands a request over; ServiceUnavailable when the other server cannot be reached. */
  async forward(apiService: AnyObject, request: Request, identity: Identity): Promise<Response> {
    const name = apiService.metadata.name;
    if (!this.#proxy)
      throw new ApiError('ServiceUnavailable', `the server behind APIService ${name} cannot be reached: aggregation is off`);
    try {
      const response = await this.#proxy(apiService, request, identity);
      this.#lost.delete(name);
      return response;
    } catch (error) {
      if (!request.signal.aborted && !this.#lost.has(name)) {
        this.#lost.add(name);
        this.#tellLost();
      }
      if (error instanceof ApiError) throw error;
      throw new ApiError('ServiceUnavailable', `the server behind APIService ${name} cannot be reached: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Every aggregated group version with its resources; one that is down keeps its last known ones and never holds up the rest. */
  async discover(): Promise<AggregatedGroupVersion[]> {
    const services = this.#store.list(PREFIX).map(({ value }) => value as ApiService); // see find
    return Promise.all(services.filter(({ spec }) => spec?.service).map((service) => this.#discoverOne(service)));
  }

  /** Why the server behind an APIService does not answer, undefined when it does. Always asks. */
  async problemOf(apiService: AnyObject): Promise<string | undefined> {
    const { group = '', version = '' } = (apiService as ApiService).spec ?? {}; // its schema was checked when it was written
    try {
      await this.#resourcesOf(apiService as ApiService, group, version);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  async #discoverOne(service: ApiService): Promise<AggregatedGroupVersion> {
    const { group = '', version = '' } = service.spec ?? {};
    const { name, uid } = service.metadata;
    const known = this.#known.get(name);
    const maxAgeMs = known?.found.isStale ? STALE_MS : FRESH_MS;
    if (known && known.uid === uid && this.#clock.steady() - known.atMs < maxAgeMs) return known.found;
    const found = await this.#ask(service, { group, version, resources: known?.found.resources ?? [], isStale: true });
    this.#known.set(name, { found, atMs: this.#clock.steady(), uid });
    return found;
  }

  /** What the server says of itself, or `otherwise` when it says nothing. */
  async #ask(service: ApiService, otherwise: AggregatedGroupVersion): Promise<AggregatedGroupVersion> {
    const { group, version } = otherwise;
    try {
      const resources = await this.#resourcesOf(service, group, version);
      return { group, version, resources, isStale: false };
    } catch (error) {
      this.#log.debug('aggregated API does not answer discovery', { apiService: service.metadata.name, error: messageOf(error) });
      return otherwise;
    }
  }

  async #resourcesOf(service: ApiService, group: string, version: string): Promise<readonly object[]> {
    const request = new Request(`https://kubernetes.default.svc/apis/${group}/${version}`, {
      headers: { accept: 'application/json' },
      signal: timeoutSignal(DISCOVERY_TIMEOUT_MS),
    });
    const response = await this.forward(service, request, SELF);
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    const { resources = [] } = (await response.json()) as { resources?: readonly object[] };
    return resources;
  }
}
