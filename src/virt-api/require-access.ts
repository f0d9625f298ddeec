/**
 * Asks for each call whether the caller may do it, by a SubjectAccessReview. The API server in front has asked before, but it does
 * not see all: a GET that changes something (the published way to start a configuration) is a `get` to it, and of a subresource with a slash
 * in its name (vnc/screenshot) it sees the first half alone.
 */
import { SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { ApiError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import type { Caller } from './front-proxy.ts';

type Review = KubeObject & { readonly spec: object; readonly status?: { readonly allowed?: boolean; readonly reason?: string } };

const REVIEWS: Resource<Review> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  isNamespaced: false,
};

/** What is asked for; without a subresource, the thing of that name in a namespace. */
export type ResourceAttributes = {
  /** That of subresources when not given. */
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace: string;
  readonly name?: string;
  readonly verb: 'get' | 'update' | 'create';
};

/** Throws Forbidden unless the caller may do this. */
export async function requireAccess(client: Client, { user, ...caller }: Caller, attributes: ResourceAttributes): Promise<void> {
  const review = await client.create(REVIEWS, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: { name: '' },
    spec: { user, ...caller, resourceAttributes: { group: SUBRESOURCES_GROUP, ...attributes } },
  });
  if (review.status?.allowed) return;
  const { group = SUBRESOURCES_GROUP, resource, subresource, namespace, name, verb } = attributes;
  const named = name === undefined ? '' : ` "${name}"`;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  throw new ApiError(
    'Forbidden',
    `${resource}.${group}${named} is forbidden: User "${user}" cannot ${verb} resource "${what}" in API group "${group}" in the namespace "${namespace}"`,
  );
}
