/** With a definition go all objects of its kind, and with those the guests: it stays while there is one. */
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import { keyOf } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import type { AdmissionRequest } from './admission-request.ts';

const SHOWN = 5;

/** The answer to the question whether a definition may be deleted. */
export async function reviewCrdDeletion({ operation, oldObject }: AdmissionRequest, client: Client): Promise<JsonObject> {
  const name = oldObject?.metadata.name;
  const resource: Resource | undefined = KINDS.find(({ plural, group }) => `${plural}.${group}` === name);
  if (operation !== 'DELETE' || !resource) return { allowed: true };
  const { items } = await client.list(resource);
  if (items.length === 0) return { allowed: true };
  const names = items.slice(0, SHOWN).map(({ metadata }) => keyOf(metadata));
  const more = items.length > SHOWN ? ` and ${items.length - SHOWN} more` : '';
  const message = `${name} stays while there are objects of it, which would go with it: ${names.join(', ')}${more}. Delete them first, or virtctl uninstall`;
  return { allowed: false, status: { status: 'Failure', code: 409, reason: 'Conflict', message } };
}
