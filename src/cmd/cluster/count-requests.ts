/** Counts what a component asks of the API server, by the name and labels that KubeVirt publishes. Names of objects make no series. */
import { MetricCounter, type MetricFamilies } from '../../base/metrics.ts';
import type { KubeFetch } from '../../client/client.ts';

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** The same `fetch`, with its answers counted; a request without an answer has the code `<error>`. */
export function countRequests(inner: KubeFetch, metrics: MetricFamilies): KubeFetch {
  const counter = new MetricCounter({ name: 'kubevirt_rest_client_requests_total', help: 'Requests to the API server.' });
  metrics.add(counter);
  return async (request) => {
    const labels = labelsOf(request);
    try {
      const response = await inner(request);
      counter.add({ ...labels, code: String(response.status) });
      return response;
    } catch (error) {
      counter.add({ ...labels, code: '<error>' });
      throw error;
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
  };
}
