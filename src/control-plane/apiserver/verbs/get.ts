/** GET of one object, or of its status, which is the whole object too. */
import type { Entry } from '../../store/entry.ts';
import { notFound } from '../response/api-errors.ts';
import { respondEntry } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';

export async function get(call: Call): Promise<Response> {
  const entry = currentEntry(call);
  await call.parts.conversions.prepare(call.type, [entry], call.request.signal);
  return respondEntry(call, entry);
}

/** The built-in object a request names; NotFound when it is not there. */
export function currentObject(call: Call): AnyObject {
  return call.parts.renderer.render(call.type, currentEntry(call));
}

/** The object a request names, of any kind. */
export async function convertedObject(call: Call): Promise<AnyObject> {
  const entry = currentEntry(call);
  await call.parts.conversions.prepare(call.type, [entry], call.request.signal);
  return call.parts.renderer.render(call.type, entry);
}

function currentEntry({ parts, type, path }: Call): Entry {
  const name = path.name ?? '';
  const entry = parts.store.get(storeKey(type, path.namespace, name));
  if (!entry) throw notFound(type, name);
  return entry;
}
