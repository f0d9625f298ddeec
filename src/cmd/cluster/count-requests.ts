/** Counts what a component asks of the API server and how long answers take, by the names and labels that KubeVirt publishes. Names of objects make no series. */
import type { Clock } from '../../base/clock.ts';
import { MetricCounter, type MetricFamilies, MetricHistogram } from '../../base/metrics.ts';
import type { KubeFetch } from '../../client/client.ts';

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** In seconds, as Kubernetes' own clients have them. */
const BOUNDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** The same `fetch`, with its answers counted; a request without an answer has the code `<error>`. A watch is answered when it begins. */
export function countRequests(inner: KubeFetch, metrics: MetricFamilies, clock: Pick<Clock, 'steady'>): KubeFetch {
  const counter = new MetricCounter({ name: 'kubevirt_rest_client_requests_total', help: 'Requests to the API server.' });
  const help = 'How long the API server takes to answer.';
  const latency = new MetricHistogram({ name: 'kubevirt_rest_client_request_latency_seconds', help, bounds: BOUNDS });
  metrics.add(counter);
  metrics.add(latency);
  return async (request) => {
    const { url, ...labels } = labelsOf(request);
    const beganAt = clock.steady();
    try {
      const response = await inner(request);
      counter.add({ ...labels, code: String(response.status) });
      return response;
    } catch (error) {
      counter.add({ ...labels, code: '<error>' });
      throw error;
    } finally {
      latency.observe({ verb: request.method, url }, (clock.steady() - beganAt) / 1000);
    }
  };
}

function labelsOf({ method, url }: Request) {
  const { host, pathname, searchParams } = new URL(url);
  const [root, ...segments] = pathname.split('/').filter(Boolean);
  const below = segments.slice(root === 'api' ? 1 : 2);
  const isNamespaced = below[0] === 'namespaces' && below.length > 2;
  const [resource = 'none', name, subresource] = isNamespaced ? below.slice(2) : below;
  const isObject = root === 'api' || root === 'apis';
  const verb = VERBS[method] ?? (searchParams.has('watch') ? 'watch' : name === undefined ? 'list' : 'get');
  return {
    host,
    method,
    resource: !isObject ? 'none' : subresource === undefined ? resource : `${resource}/${subresource}`,
    verb: isObject ? verb : method.toLowerCase(),
    url: isObject ? templateOf({ host, pathname, isNamespaced, subresource, hasName: name !== undefined }) : `https://${host}/`,
  };
}

type Parts = {
  readonly host: string;
  readonly pathname: string;
  readonly isNamespaced: boolean;
  readonly subresource: string | undefined;
  readonly hasName: boolean;
};

/** The address with a word for each name in it. */
function templateOf({ host, pathname, isNamespaced, subresource, hasName }: Parts): string {
  const [root = '', ...segments] = pathname.split('/').filter(Boolean);
  const depth = root === 'api' ? 1 : 2;
  const resource = segments[depth + (isNamespaced ? 2 : 0)];
  const path = [
    root,
    ...segments.slice(0, depth),
    ...(isNamespaced ? ['namespaces', '{namespace}'] : []),
    ...(resource === undefined ? [] : [resource]),
    ...(hasName ? ['{name}'] : []),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  return `https://${host}/${path.join('/')}`;
}
