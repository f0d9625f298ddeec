/** Asks the API server, before anything is written, whether this user may do all of it. */
import { INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import type { Resource } from '../../api/resource.ts';
import { UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

const PATH = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** A UserError that names every right that is missing. */
export async function requireRights(client: Client, resources: readonly Resource[], verbs: readonly string[]): Promise<void> {
  const asked = resources.flatMap((resource) => verbs.map((verb) => ({ resource, verb })));
  const answers = await Promise.all(asked.map(async (each) => ({ ...each, isAllowed: await isAllowed(client, each) })));
  const missing = answers.filter((each) => !each.isAllowed);
  if (missing.length === 0) return;
  const words = missing.map(({ verb, resource: { plural, group } }) => `${verb} ${plural}${group ? `.${group}` : ''}`);
  throw new UserError('NO_RIGHTS', 'you may not do this on this cluster', {
    why: `missing rights: ${words.join(', ')}`,
    fix: 'use a kubeconfig of an administrator (ClusterRole cluster-admin); nothing was changed',
    exitCode: 6,
  });
}

async function isAllowed(client: Client, { resource, verb }: { resource: Resource; verb: string }): Promise<boolean> {
  const { group, plural, isNamespaced } = resource;
  const resourceAttributes = { group, resource: plural, verb, ...(isNamespaced && { namespace: INSTALL_NAMESPACE }) };
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(review) };
  const { status } = (await (await client.request(PATH, init)).json()) as { status?: { allowed?: boolean } };
  return status?.allowed === true;
}
