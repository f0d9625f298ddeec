/** Brings the objects of deploy/ into the API server: created when missing, patched when they differ. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/meta.ts';
import { pathOf, type Resource } from '../../api/resource.ts';
import { isApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

/** CRDs first: what follows may use their kinds. */
export async function applyManifests(client: Client, folder: string, change: (object: KubeObject) => KubeObject): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
  const ordered = files.sort((a, b) => Number(b.startsWith('crds/')) - Number(a.startsWith('crds/')) || a.localeCompare(b));
  for (const file of ordered) {
    for (const document of parseAllDocuments(readFileSync(join(folder, file), 'utf8'))) {
      const object = document.toJS() as KubeObject | null;
      if (object) await apply(client, change(object));
    }
  }
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
