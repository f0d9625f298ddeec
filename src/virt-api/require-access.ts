/**
 * What the API server in front cannot know, so we ask it ourselves. A GET that changes something (the published way to start a
 * configuration) is authorised there as `get`, and of a subresource with a slash in its name (vnc/screenshot) it sees the first half alone.
 */
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { ApiError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import { type Route, SUBRESOURCES_GROUP } from './routes.ts';

type Review = KubeObject & { readonly spec: object; readonly status?: { readonly allowed?: boolean; readonly reason?: string } };

const REVIEWS: Resource<Review> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  isNamespaced: false,
};

export type Asked = {
  readonly client: Client;
  readonly request: Request;
  readonly user: string;
  readonly route: Pick<Route, 'resource' | 'subresource'>;
  readonly namespace: string;
  readonly name: string;
  readonly verb: 'get' | 'update';
};

/** Throws Forbidden unless the caller may do this to the subresource. */
export async function requireAccess({ client, request, user, route, namespace, name, verb }: Asked): Promise<void> {
  const { resource, subresource } = route;
  const groups = (request.headers.get('x-remote-group') ?? '').split(', ').filter(Boolean);
  const resourceAttributes = { verb, group: SUBRESOURCES_GROUP, resource, subresource, namespace, name };
  const review = await client.create(REVIEWS, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: { name: '' },
    spec: { user, groups, resourceAttributes },
  });
  if (review.status?.allowed) return;
  throw new ApiError(
    'Forbidden',
    `${resource}.${SUBRESOURCES_GROUP} "${name}" is forbidden: User "${user}" cannot ${verb} resource "${resource}/${subresource}" in API group "${SUBRESOURCES_GROUP}" in the namespace "${namespace}"`,
  );
}
