/** Stored values as the objects a client sees: in the version it asked for, with today's defaults and the revision inside. */

import { apiVersionOf } from '../../api/resource.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Entry } from '../store/entry.ts';
import type { AnyObject, ResourceType } from './resource-type.ts';
import { applyDefaults } from './schema/defaults.ts';
import { prune } from './schema/prune.ts';

/** Objects are rendered once per entry and served version; entries never change, so neither do they. */
export class Renderer {
  #rendered = new WeakMap<ResourceType, WeakMap<Entry, AnyObject>>();

  render(type: ResourceType, entry: Entry): AnyObject {
    let known = this.#rendered.get(type);
    if (!known) {
      known = new WeakMap();
      this.#rendered.set(type, known);
    }
    const found = known.get(entry);
    if (found) return found;
    const object = renderAt(type, entry.value, entry.revision);
    known.set(entry, object);
    return object;
  }
}

/** A stored value as an object at a revision (a deletion shows the last state at the revision of the deletion). */
export function renderAt(type: ResourceType, value: JsonObject, revision: number): AnyObject {
  const stored = withOwnNames(type, value) as AnyObject; // only objects that went through the write pipeline are in the store
  const apiVersion = apiVersionOf(type);
  const metadata = { ...stored.metadata, resourceVersion: String(revision) };
  if (type.isBuiltIn || !type.schema) return { ...stored, apiVersion, kind: type.kind, metadata };
  // A custom object may have been written under another version or an older schema.
  const pruned = apiVersion === stored.apiVersion ? value : prune(type.schema, value).value;
  return { ...(applyDefaults(type.schema, pruned) as AnyObject), apiVersion, kind: type.kind, metadata };
}

/** An object as it is stored: in the storage version, without the revision, which the store itself knows. */
export function toStored(type: ResourceType, object: AnyObject): JsonObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...withStoredNames(type, object), apiVersion: type.storedApiVersion, metadata };
}

function withOwnNames({ sharedStorage }: ResourceType, value: JsonObject): JsonObject {
  if (!sharedStorage) return value;
  const own = new Map(Object.entries(sharedStorage.storedNames).map(([name, stored]) => [stored, name]));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [own.get(name) ?? name, field]));
}

function withStoredNames({ sharedStorage }: ResourceType, object: AnyObject): JsonObject {
  if (!sharedStorage) return object;
  const { storedNames } = sharedStorage;
  const nameOf = (name: string) => (Object.hasOwn(storedNames, name) ? (storedNames[name] ?? name) : name);
  return Object.fromEntries(Object.entries(object).map(([name, field]) => [nameOf(name), field]));
}
