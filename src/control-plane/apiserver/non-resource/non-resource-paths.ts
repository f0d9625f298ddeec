/** Everything that is not an object: health, version, discovery, OpenAPI, metrics. */

import type { MetricFamilies } from '../../../base/metrics.ts';
import { respondMetrics } from '../../../base/node/metrics-page.ts';
import type { Store } from '../../store/store.ts';
import type { ServiceAccountTokens } from '../access/service-account-tokens.ts';
import type { AggregatedApis } from '../aggregation/aggregated-apis.ts';
import { aggregatedDiscovery, aggregatedVersion, apiGroup, apiGroupList, apiResourceList, apiVersions } from '../discovery/discovery.ts';
import { versionInfo } from '../discovery/version-info.ts';
import type { OpenApiDocuments } from '../openapi/serve-openapi.ts';
import { segmentsOf } from '../request/path-grammar.ts';
import { methodNotAllowed, unknownPath } from '../response/api-errors.ts';
import { respondJson } from '../response/respond.ts';
import type { Identity } from '../transport/identity.ts';
import type { ResourceRegistry } from '../types/resource-registry.ts';
import { answerHealth, type HealthCheck } from './health.ts';
import { serveSnapshot } from './serve-snapshot.ts';

export type NonResourceParts = {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly aggregated: AggregatedApis;
  readonly openApi: OpenApiDocuments;
  readonly tokens: ServiceAccountTokens | undefined;
  readonly healthChecks: readonly HealthCheck[];
  readonly metricFamilies: MetricFamilies | undefined;
};

export async function answerNonResource(
  parts: NonResourceParts,
  request: Request,
  asked: { url: URL; identity: Identity },
): Promise<Response> {
  const { url, identity } = asked;
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
  const segments = segmentsOf(url.pathname);
  const [first, second] = segments;
  switch (first) {
    case 'version':
      return respondJson(versionInfo(), { request });
    case 'healthz':
    case 'livez':
    case 'readyz':
      return answerHealth(parts.healthChecks, url);
    case 'api':
    case 'apis':
      return discovery(parts, request, { segments, identity });
    case 'openapi':
      if (second === 'v2' && segments.length === 2) return parts.openApi.v2(request);
      if (second !== 'v3') throw unknownPath();
      return segments.length === 2 ? parts.openApi.index(request) : parts.openApi.v3(segments.slice(2).join('/'), url, request);
    case 'metrics':
      if (segments.length > 1 || !parts.metricFamilies) throw unknownPath();
      return respondMetrics(parts.metricFamilies);
    case 'snapshot':
      if (segments.length > 1) throw unknownPath();
      return serveSnapshot(parts.store);
    case 'openid':
    case '.well-known':
      return keys(parts, segments.join('/'));
    default:
      throw unknownPath();
  }
}

/** How others can check tokens of service accounts without asking us. */
function keys({ tokens }: NonResourceParts, path: string): Response {
  if (tokens && path === '.well-known/openid-configuration') return respondJson(tokens.discovery(), {});
  if (tokens && path === 'openid/v1/jwks') return respondJson(tokens.keys(), { headers: { 'content-type': 'application/jwk-set+json' } });
  throw unknownPath();
}

type Asked = { readonly segments: readonly string[]; readonly identity: Identity };

async function discovery({ registry, aggregated }: NonResourceParts, request: Request, { segments, identity }: Asked): Promise<Response> {
  const [root, group = '', version = ''] = segments;
  const isCore = root === 'api';
  const apiService = isCore ? undefined : aggregated.find(group, version);
  if (apiService) return aggregated.forward(apiService, request, identity);
  // What is served here alone never waits for another server.
  const isLocal = isCore || (version !== '' && segments.length === 3);
  const source = { registry, aggregated: isLocal ? [] : await aggregated.discover() };
  if (segments.length === 1) {
    const wanted = aggregatedVersion(request.headers.get('accept'));
    if (!wanted) return respondJson(isCore ? apiVersions() : apiGroupList(source), { request, headers: { vary: 'Accept' } });
    // Clients tell the two forms apart by the parameters of the answer's type.
    const type = `application/json;g=apidiscovery.k8s.io;v=${wanted};as=APIGroupDiscoveryList`;
    return respondJson(aggregatedDiscovery(source, { isCore, version: wanted }), { headers: { 'content-type': type, vary: 'Accept' } });
  }
  const document = documentFor(source, { isCore, group, version });
  if (!document) throw unknownPath();
  return respondJson(document, { request });
}

function documentFor(source: Parameters<typeof apiGroup>[0], path: { isCore: boolean; group: string; version: string }) {
  if (path.isCore) return apiResourceList(source, '', path.group);
  return path.version === '' ? apiGroup(source, path.group) : apiResourceList(source, path.group, path.version);
}
