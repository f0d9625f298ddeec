/** Creates what every cluster has, through the API itself, and leaves alone what is already there. */
import type { KubeObject } from '../../api/meta.ts';
import { ApiError } from '../../base/errors.ts';
import { CLUSTER_ROLES, NAMESPACES, namespaceNamed } from './bootstrap-objects-table.ts';

export type SelfRequest = (method: string, path: string, body?: object) => Promise<Response>;

export async function bootstrap(request: SelfRequest): Promise<void> {
  const wanted: [string, KubeObject][] = [
    ...NAMESPACES.map((name): [string, KubeObject] => ['/api/v1/namespaces', namespaceNamed(name)]),
    ...CLUSTER_ROLES.map((role): [string, KubeObject] => ['/apis/rbac.authorization.k8s.io/v1/clusterroles', role]),
  ];
  await Promise.all(
    wanted.map(async ([path, object]) => {
      const response = await request('POST', path, object);
      if (response.ok || response.status === 409) return;
      throw new ApiError('InternalError', `Cannot create ${object.kind} ${object.metadata.name} at start: ${await response.text()}`);
    }),
  );
}
