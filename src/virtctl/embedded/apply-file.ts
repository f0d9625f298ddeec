/** The manifests of a project: read before anything starts, applied when the cluster serves. */
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/meta.ts';
import { pathOf, type Resource } from '../../api/resource.ts';
import { isApiError, messageOf, UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';

type Served = { readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[] };

/** Every object of the text; a UserError names the file and what is wrong with it. */
export function parseManifests(file: string, text: string): readonly KubeObject[] {
  const documents = parseAllDocuments(text);
  const found = 'empty' in documents ? [] : documents.filter((document) => document.errors.length > 0 || document.toJS() !== null);
  return found.flatMap((document, index) => {
    const [problem] = document.errors;
    if (problem) throw refused(file, messageOf(problem).split('\n')[0] ?? '');
    const object: unknown = document.toJS();
    const items = isObject(object) && object['kind'] === 'List' && Array.isArray(object['items']) ? object['items'] : [object];
    return items.map((item) => {
      const metadata = isObject(item) ? item['metadata'] : undefined;
      const isNamed = isObject(metadata) && typeof metadata['name'] === 'string';
      if (isObject(item) && typeof item['apiVersion'] === 'string' && typeof item['kind'] === 'string' && isNamed)
        return item as unknown as KubeObject; // as far as one can tell before the server looks at it
      throw refused(file, `document ${index + 1} has no apiVersion, kind or metadata.name`);
    });
  });
}

/** Creates what is not there and changes what is (a merge: fields that the file does not name stay, unknown ones are refused); a line about each. */
export async function applyAll(client: Client, objects: readonly KubeObject[]): Promise<string> {
  const said: string[] = [];
  for (const object of objects) {
    const { kind, metadata } = object;
    const resource = await resourceOf(client, object);
    const at = { name: metadata.name, ...(resource.isNamespaced && { namespace: metadata.namespace ?? 'default' }) };
    const { creationTimestamp: _, ...kept } = metadata as Record<string, unknown>; // null in many published manifests
    const whole = { ...object, metadata: { ...kept, ...at } };
    const existing = await client.get(resource, at);
    const { name: _name, ...where } = at;
    if (existing) await send(client, { method: 'PATCH', path: pathOf(resource, at), type: 'application/merge-patch+json', body: whole });
    else await send(client, { method: 'POST', path: pathOf(resource, where), type: 'application/json', body: whole });
    said.push(`${kind} ${metadata.name} ${existing ? 'configured' : 'created'}`);
  }
  return said.join(', ');
}

type Written = { readonly method: 'POST' | 'PATCH'; readonly path: string; readonly type: string; readonly body: object };

/** As kubectl does: a field that nobody knows is a mistake, and not passed over with its value. */
async function send(client: Client, { method, path, type, body }: Written): Promise<void> {
  const init = { method, headers: { 'content-type': type }, body: JSON.stringify(body) };
  await (await client.request(`${path}?fieldValidation=Strict`, init)).body?.cancel();
}

async function resourceOf(client: Client, { apiVersion, kind }: KubeObject): Promise<Resource> {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const root = pathOf({ group, version, plural: '', kind, isNamespaced: false }).replace(/\/$/, '');
  const response = await client.request(root).catch((error: unknown) => {
    if (isApiError(error, 'NotFound')) throw unknown(apiVersion, kind);
    throw error;
  });
  const found = ((await response.json()) as Served).resources.find((each) => each.kind === kind && !each.name.includes('/'));
  if (!found) throw unknown(apiVersion, kind);
  return { group, version, plural: found.name, kind, isNamespaced: found.namespaced };
}

function unknown(apiVersion: string, kind: string): UserError {
  return new UserError('KIND_UNKNOWN', `the cluster has no ${kind} of ${apiVersion}`, {
    fix: 'kubectl api-resources lists what it has',
    exitCode: 3,
  });
}

function refused(file: string, why: string): UserError {
  return new UserError('MANIFEST_INVALID', `${file} cannot be applied`, {
    why,
    fix: `kubectl apply --dry-run=client -f ${file} says more`,
    exitCode: 2,
  });
}
