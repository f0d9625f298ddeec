/** With a definition go all objects of its kind, and with those the guests: it stays while there is one. */
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import type { Resource } from '../../api/resource.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import type { AdmissionRequest } from './admission-request.ts';

/** The answer to the question whether a definition may be deleted. */
export async function reviewCrdDeletion({ operation, oldObject }: AdmissionRequest, client: Client): Promise<JsonObject> {
  const name = oldObject?.metadata.name;
  const resource: Resource | undefined = KINDS.find(({ plural, group }) => `${plural}.${group}` === name);
  if (operation !== 'DELETE' || !resource) return { allowed: true };
  const { items } = await client.list(resource);
  if (items.length === 0) return { allowed: true };
  // Webhooks are called without authentication: names are for who may list them.
  const count = `${items.length} ${items.length === 1 ? 'object' : 'objects'}`;
  const message = `${name} stays while there are objects of it, which would go with it: ${count}. Delete them first (kubectl get ${name} -A), or virtctl uninstall`;
  return { allowed: false, status: { status: 'Failure', code: 409, reason: 'Conflict', message } };
}
