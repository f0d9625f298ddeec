/** What every part of the API server is given, and what one request is while it is being answered. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Store } from '../store/store.ts';
import type { OpenStreams, Permission } from './access/open-streams.ts';
import type { PodsOfNodes } from './access/pods-of-nodes.ts';
import type { RuleIndex } from './access/rule-index.ts';
import type { ServiceAccountTokens } from './access/service-account-tokens.ts';
import type { AskWebhook } from './admission/webhook.ts';
import type { Conversions } from './conversion/conversions.ts';
import type { RequestMetrics } from './non-resource/request-metrics.ts';
import type { NamespaceShares } from './quota/namespace-shares.ts';
import type { QuotaLedger } from './quota/quota-ledger.ts';
import type { FlowControl } from './request/flow-control.ts';
import type { ResourcePath } from './request/path-grammar.ts';
import type { Renderer } from './response/render.ts';
import type { Identity } from './transport/identity.ts';
import type { ResourceRegistry } from './types/resource-registry.ts';
import type { AnyObject, ResourceType } from './types/resource-type.ts';

export type { Identity } from './transport/identity.ts';

/** One write on its way into the store, as admission sees it. `object` is undefined for a deletion, `oldObject` for a creation. */
export type AdmissionAttributes = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly object: AnyObject | undefined;
  readonly oldObject: AnyObject | undefined;
  readonly isDryRun: boolean;
  readonly identity: Identity;
  readonly signal: AbortSignal;
};
export type Admission = {
  /** May change the object; throws ApiError to refuse. */
  mutate(request: AdmissionAttributes & { object: AnyObject }): Promise<{ object: AnyObject; warnings: readonly string[] }>;
  /** Throws ApiError to refuse. */
  validate(request: AdmissionAttributes): Promise<{ warnings: readonly string[] }>;
};

export type PodLogOptions = {
  readonly container: string | undefined;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  readonly sinceTime: string | undefined;
  readonly limitBytes: number | undefined;
  readonly signal: AbortSignal;
};

export type Hooks = {
  /** Answers GET pods/log. */
  readonly logs?: (pod: AnyObject, options: PodLogOptions) => Promise<Response>;
  /** Sends a request to the server behind an APIService. */
  readonly proxyToService?: (apiService: AnyObject, request: Request, identity: Identity) => Promise<Response>;
  /** What Pods and nodes use now, as objects of metrics.k8s.io; without it there is no such group. */
  readonly metrics?: () => Promise<{ readonly nodes: readonly AnyObject[]; readonly pods: readonly AnyObject[] }>;
  /** What /metrics shows; without it there is no such path. */
  readonly metricFamilies?: MetricFamilies;
  readonly admission?: Admission;
  /** Asks a webhook; without it nothing is converted. */
  readonly askWebhook?: AskWebhook;
  /** Why something that answers depend on is not there yet, undefined when all is. */
  readonly whyNotReady?: () => string | undefined;
  /** Sends a request to a Pod; without it nothing is proxied. */
  readonly reachEndpoint?: (request: EndpointRequest) => Promise<Response>;
};

export type EndpointRequest = Pick<Request, 'method' | 'headers' | 'body' | 'signal'> & { readonly url: string };

export type ServerParts = {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  /** Who holds which rules. */
  readonly rules: RuleIndex;
  /** Which node runs what. */
  readonly podsOfNodes: PodsOfNodes;
  /** How much of each ResourceQuota is used. */
  readonly quotas: QuotaLedger;
  /** How much memory the objects of each namespace take. */
  readonly namespaceShares: NamespaceShares;
  /** Undefined when the cluster has no key to sign tokens with: then Pods get none. */
  readonly tokens: ServiceAccountTokens | undefined;
  readonly renderer: Renderer;
  /** Objects of versions that they are not stored in. */
  readonly conversions: Conversions;
  readonly flowControl: FlowControl;
  /** Answers that go on, for as long as they may. */
  readonly openStreams: OpenStreams;
  /** Counts answers, where somebody can read it. */
  readonly requestMetrics: RequestMetrics | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hooks: Hooks;
  /** Aborted when the server closes: watches end. */
  readonly closed: AbortSignal;
};

/** One request for a known resource. `warnings` collects what goes into Warning headers. */
export type Call = {
  readonly parts: ServerParts;
  readonly type: ResourceType;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly request: Request;
  readonly identity: Identity;
  readonly warnings: string[];
  /** Asked again while an answer goes on. */
  readonly permission: Permission;
};
