/** Shorthands for tests about roles. */
import assert from 'node:assert/strict';
import type { KubeObject } from '../../../api/meta.ts';
import type { Resource } from '../../../api/resource.ts';
import { ApiError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';

const GROUP = 'rbac.authorization.k8s.io';

function rbac(plural: string, kind: string, isNamespaced: boolean): Resource<KubeObject & Record<string, unknown>> {
  return { group: GROUP, version: 'v1', plural, kind, isNamespaced };
}
export const ROLES = rbac('roles', 'Role', true);
const ROLE_BINDINGS = rbac('rolebindings', 'RoleBinding', true);
export const CLUSTER_ROLES = rbac('clusterroles', 'ClusterRole', false);
export const CLUSTER_ROLE_BINDINGS = rbac('clusterrolebindings', 'ClusterRoleBinding', false);

export type Grant = { readonly namespace?: string; readonly rules: object[]; readonly subject: object; readonly name?: string };

/** Makes a role with these rules, in the namespace or for the whole cluster, and binds it to the subject. */
export async function grant(client: Client, { namespace, rules, subject, name = 'r' }: Grant): Promise<void> {
  const roles = namespace ? ROLES : CLUSTER_ROLES;
  const metadata = { name, ...(namespace && { namespace }) };
  await client.create(roles, { apiVersion: `${GROUP}/v1`, kind: roles.kind, metadata, rules });
  await bindRole(client, { namespace, subject, name, kind: roles.kind });
}

export type RoleToBind = {
  readonly namespace?: string;
  readonly subject: object;
  readonly name: string;
  readonly kind?: string;
  readonly as?: string;
};

/** Binds a role that is there. */
export async function bindRole(client: Client, { namespace, subject, name, kind = 'ClusterRole', as = name }: RoleToBind): Promise<void> {
  const bindings = namespace ? ROLE_BINDINGS : CLUSTER_ROLE_BINDINGS;
  const metadata = { name: as, ...(namespace && { namespace }) };
  const roleRef = { apiGroup: GROUP, kind, name };
  await client.create(bindings, { apiVersion: `${GROUP}/v1`, kind: bindings.kind, metadata, roleRef, subjects: [subject] });
}

/** `ok`, the message of a refusal, or the reason of another failure. */
export async function outcome(request: Promise<unknown>): Promise<string> {
  try {
    await request;
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.reason === 'Forbidden' ? error.message : error.reason;
  }
}
