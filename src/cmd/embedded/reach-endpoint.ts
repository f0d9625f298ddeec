/** The way of the API server's proxy to a Pod. Certificates are not checked there, as in Kubernetes: nobody issues any for the address of a Pod. */
import { Agent } from 'node:https';
import { httpsFetch } from '../../base/node/https-fetch.ts';
import type { EndpointRequest } from '../../control-plane/apiserver/server-parts.ts';

/** Answers with what the Pod answers; redirections are the caller's to follow. */
export function reachEndpoint({ url, method, headers, body, signal }: EndpointRequest): Promise<Response> {
  headers.set('accept-encoding', 'identity'); // passed on as it comes
  const request = { method, headers, body, signal, redirect: 'manual', ...(body && { duplex: 'half' as const }) } as const;
  if (url.startsWith('http:')) return fetch(url, request);
  return httpsFetch(new Request(url, request), { agent: new Agent(), rejectUnauthorized: false });
}
