/** Stored values as the objects a client sees: in the version it asked for, with today's defaults and the revision inside. */

import { apiVersionOf } from '../../../api/resource.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { Entry } from '../../store/entry.ts';
import { LruCache } from '../../store/lru-cache.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';
import { SharedLines } from './shared-lines.ts';

/** How much of what was rendered lately is kept, twice, counted as stored text. */
const RENDERED_BYTES = 4 * 1024 * 1024;

/** Who knows stored values in the versions that they are not stored in. */
type Converted = { valueOf(type: ResourceType, entry: Entry): JsonObject };
type Rendered = { readonly object: AnyObject; text: string | undefined };

/** Entries never change, so neither do the objects and texts made from them. */
export class Renderer {
  readonly lines = new SharedLines();
  #rendered = new LruCache<Entry, Map<ResourceType, Rendered>>(RENDERED_BYTES);
  #heads = new WeakMap<ResourceType, { readonly head: string | undefined }>();
  readonly #conversions: Converted;

  constructor(conversions: Converted) {
    this.#conversions = conversions;
  }

  render(type: ResourceType, entry: Entry): AnyObject {
    return this.#rendering(type, entry).object;
  }

  /** What selectors look at: never a reason to ask a conversion webhook. */
  selectable(type: ResourceType, entry: Entry): AnyObject {
    return type.converter ? renderAt(type, entry.value, entry.revision) : this.render(type, entry);
  }

  /** The same object as JSON, at another revision if that is given. Most are shown as they are stored, and need no parsing. */
  renderText(type: ResourceType, entry: Entry, revision = entry.revision): string {
    const head = this.#headOf(type);
    if (head !== undefined && entry.text.startsWith(head)) {
      return `${head}resourceVersion":"${revision}","${entry.text.slice(head.length)}`;
    }
    if (revision !== entry.revision) return JSON.stringify(this.renderAt(type, entry, revision));
    const rendered = this.#rendering(type, entry);
    rendered.text ??= JSON.stringify(rendered.object); // a hundred watchers are told the same
    return rendered.text;
  }

  /** The object at another revision than its own: a deletion shows the last state at the revision of the deletion. */
  renderAt(type: ResourceType, entry: Entry, revision: number): AnyObject {
    return renderAt(type, this.#conversions.valueOf(type, entry), revision);
  }

  #rendering(type: ResourceType, entry: Entry): Rendered {
    const known = this.#rendered.get(entry, entry.text.length, () => new Map());
    const found = known.get(type) ?? { object: this.renderAt(type, entry, entry.revision), text: undefined };
    known.set(type, found);
    return found;
  }

  #headOf(type: ResourceType): string | undefined {
    const known = this.#heads.get(type) ?? { head: storedHead(type) };
    this.#heads.set(type, known);
    return known.head;
  }
}

/** How the text of an object starts that is stored as it is shown, up to the name of the first field beside which the revision is missing. */
function storedHead(type: ResourceType): string | undefined {
  if (type.sharedStorage || (!type.isBuiltIn && type.schema)) return undefined; // names may differ, defaults may be new
  return `{"apiVersion":${JSON.stringify(apiVersionOf(type))},"kind":${JSON.stringify(type.kind)},"metadata":{"`;
}

/** A value as an object at a revision. */
export function renderAt(type: ResourceType, value: JsonObject, revision: number): AnyObject {
  const stored = withOwnNames(type, value) as AnyObject; // only objects that went through the write pipeline are in the store
  const apiVersion = apiVersionOf(type);
  const metadata = { ...stored.metadata, resourceVersion: String(revision) };
  if (type.isBuiltIn || !type.schema) return { ...stored, apiVersion, kind: type.kind, metadata };
  // A custom object may have been written under another version or an older schema.
  const pruned = apiVersion === stored.apiVersion ? value : prune(type.schema, value).value;
  return { ...(applyDefaults(type.schema, pruned) as AnyObject), apiVersion, kind: type.kind, metadata };
}

/**
 * An object as it is stored: in the storage version, without the revision, which the store itself knows.
 * The order of the first fields lets renderText put the revision in without parsing.
 */
export function toStored(type: ResourceType, object: AnyObject): JsonObject {
  const { apiVersion: _, kind, metadata, ...rest } = withStoredNames(type, object) as AnyObject; // only fields besides these have other names
  const { resourceVersion: __, ...lasting } = metadata;
  return { apiVersion: type.storedApiVersion, kind, metadata: lasting, ...rest };
}

function withOwnNames({ sharedStorage }: ResourceType, value: JsonObject): JsonObject {
  if (!sharedStorage) return value;
  const own = new Map(Object.entries(sharedStorage.storedNames).map(([name, stored]) => [stored, name]));
  const named = Object.fromEntries(Object.entries(value).map(([name, field]) => [own.get(name) ?? name, field]));
  return sharedStorage.convert?.fromStored(named) ?? named;
}

function withStoredNames({ sharedStorage }: ResourceType, object: AnyObject): JsonObject {
  if (!sharedStorage) return object;
  const { storedNames } = sharedStorage;
  const nameOf = (name: string) => (Object.hasOwn(storedNames, name) ? (storedNames[name] ?? name) : name);
  const named = Object.fromEntries(Object.entries(object).map(([name, field]) => [nameOf(name), field]));
  return sharedStorage.convert?.toStored(named) ?? named;
}
