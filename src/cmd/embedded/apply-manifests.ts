/** Brings the objects of deploy/ into the API server: created when missing, patched when they differ. */
import type { KubeObject } from '../../api/meta.ts';
import { pathOf, type Resource } from '../../api/resource.ts';
import { isApiError } from '../../base/errors.ts';
import { cacheFolder } from '../../base/node/folders.ts';
import type { Client } from '../../client/client.ts';
import { readManifests } from '../cluster/read-manifests.ts';

/** Definitions first. Those of which the change leaves nothing are not applied; they are what it resolves to. */
export async function applyManifests(
  client: Client,
  folder: string,
  change: (object: KubeObject) => KubeObject | undefined,
): Promise<readonly KubeObject[]> {
  const leftOut: KubeObject[] = [];
  for (const object of readManifests(folder, { keptIn: cacheFolder() })) {
    const changed = change(object);
    if (changed) await apply(client, changed);
    else leftOut.push(object);
  }
  return leftOut;
}

/** Creates the object, or makes the stored one say what ours says. */
export async function apply(client: Client, object: KubeObject): Promise<void> {
  const resource = await resourceFor(client, object);
  try {
    await client.create(resource, object);
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
    await client.patch(resource, object.metadata, object);
  }
}

async function resourceFor(client: Client, { apiVersion, kind }: KubeObject): Promise<Resource> {
  const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
  const root = pathOf({ group, version, plural: '', kind, isNamespaced: false }).replace(/\/$/, '');
  const { resources } = (await (await client.request(root)).json()) as { resources: { name: string; kind: string; namespaced: boolean }[] };
  const found = resources.find((each) => each.kind === kind && !each.name.includes('/'));
  if (!found) throw new Error(`the API server does not know ${apiVersion} ${kind}`);
  return { group, version, plural: found.name, kind, isNamespaced: found.namespaced };
}
