/** GET of one object, or of its status, which is the whole object too. */
import { notFound } from '../api-errors.ts';
import { type AnyObject, storeKey } from '../resource-type.ts';
import { respondObject } from '../respond.ts';
import type { Call } from '../server-parts.ts';

export async function get(call: Call): Promise<Response> {
  return respondObject(call, currentObject(call));
}

/** The object a request names; NotFound when it is not there. */
export function currentObject({ parts, type, path }: Call): AnyObject {
  const name = path.name ?? '';
  const entry = parts.store.get(storeKey(type, path.namespace, name));
  if (!entry) throw notFound(type, name);
  return parts.renderer.render(type, entry);
}
