/** Whether we may do everything that we will have to; asked first, so that one answer names all that is missing. */
import { SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { UserError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import type { Arguments } from './arguments.ts';

type Right = { readonly group: string; readonly resource: string; readonly verb: string; readonly namespace: string };
type Review = KubeObject & {
  readonly spec: { readonly resourceAttributes: object };
  readonly status?: { readonly allowed?: boolean };
};

const REVIEWS: Resource<Review> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  isNamespaced: false,
};

/** Everything vmctl asks of the API, and nothing else: what a Role for it has to give. */
export function rightsOf({ namespace, protoNamespace }: Arguments, podNamespace: string | undefined): Right[] {
  const on = (where: string, group: string, resource: string, verbs: readonly string[]) =>
    verbs.map((verb) => ({ group, resource, verb, namespace: where }));
  return [
    ...on(protoNamespace, 'kubevirt.io', 'virtualmachines', ['get', 'list', 'watch']),
    ...on(namespace, 'kubevirt.io', 'virtualmachines', ['get', 'list', 'watch', 'create', 'delete']),
    ...(podNamespace === undefined
      ? []
      : [
          ...on(namespace, 'kubevirt.io', 'virtualmachineinstances', ['list', 'watch']),
          ...on(namespace, SUBRESOURCES_GROUP, 'virtualmachineinstances/portforward', ['get']),
          ...on(podNamespace, '', 'pods', ['get']),
          ...on(podNamespace, '', 'services', ['list', 'watch']),
        ]),
  ];
}

/** Throws FORBIDDEN with every right that is missing. */
export async function checkRights(client: Client, rights: readonly Right[]): Promise<void> {
  const answers = await Promise.all(rights.map(async (right) => ({ right, isAllowed: await isAllowed(client, right) })));
  const missing = answers.filter((answer) => !answer.isAllowed).map(({ right }) => right);
  if (missing.length === 0) return;
  throw new UserError('FORBIDDEN', 'vmctl lacks the rights for its work', { why: sayMissing(missing), fix: FIX, exitCode: 6 });
}

const FIX = 'bind a Role with these rights to the service account of the Pod, as examples/vmctl/rbac.yaml does';

/** `it may not list, watch services in namespace default; ...`. */
function sayMissing(missing: readonly Right[]): string {
  const groups = Map.groupBy(missing, ({ group, resource, namespace }) => `${resource}${group && `.${group}`} in namespace ${namespace}`);
  const parts = [...groups].map(([what, rights]) => `${[...new Set(rights.map(({ verb }) => verb))].join(', ')} ${what}`);
  return `it may not ${parts.join('; ')}`;
}

async function isAllowed(client: Client, { group, resource: path, verb, namespace }: Right): Promise<boolean> {
  const [resource, subresource] = path.split('/');
  const review: Review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: { name: '' },
    spec: { resourceAttributes: { group, resource, ...(subresource && { subresource }), verb, namespace } },
  };
  return (await client.create(REVIEWS, review)).status?.allowed === true;
}
