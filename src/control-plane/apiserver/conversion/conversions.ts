/**
 * Objects of a definition whose versions have shapes of their own, turned from one into another by its webhook.
 *
 * Whoever shows objects prepares them first: what was converted stays with its entry, so that a hundred watchers of one version ask once.
 * Whether an object is selected is decided by what is stored.
 */
import { apiVersionOf } from '../../../api/resource.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { Entry } from '../../store/entry.ts';
import type { AskWebhook } from '../admission/webhook.ts';
import { toStored } from '../response/render.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';
import { convert } from './convert.ts';

/** What one call carries: a list of thousands is converted in parts. */
const BATCH = { objects: 500, characters: 1024 * 1024 };

export class Conversions {
  readonly #ask: AskWebhook | undefined;
  readonly #known = new WeakMap<ResourceType, WeakMap<Entry, JsonObject>>();

  constructor(ask: AskWebhook | undefined) {
    this.#ask = ask;
  }

  /** True for an entry that has another version and was not prepared. */
  isMissing(type: ResourceType, entry: Entry): boolean {
    return type.converter !== undefined && !this.#knownOf(type).has(entry) && entry.value['apiVersion'] !== apiVersionOf(type);
  }

  /** The entry as an object of the version, which was prepared if it has to be. */
  valueOf(type: ResourceType, entry: Entry): JsonObject {
    if (this.isMissing(type, entry)) throw new Error(`${entry.key} is shown as ${apiVersionOf(type)} and was not converted`);
    return (type.converter && this.#knownOf(type).get(entry)) ?? entry.value;
  }

  /** Asks the webhook for what is missing; throws ApiError when it cannot be had. */
  async prepare(type: ResourceType, entries: readonly Entry[], signal: AbortSignal): Promise<void> {
    if (!type.converter) return;
    const known = this.#knownOf(type);
    for (const batch of batches(entries.filter((entry) => this.isMissing(type, entry)))) {
      const objects = batch.map(({ value, revision }) => ({
        ...value,
        metadata: { ...(value as unknown as AnyObject).metadata, resourceVersion: String(revision) }, // everything stored is an object
      }));
      const converted = await convert({ type, objects: objects as never, apiVersion: apiVersionOf(type), ask: this.#ask, signal }); // as above
      converted.forEach((object, index) => known.set(batch[index]!, object)); // as many as were asked about
    }
  }

  /** The object as it is to be stored. */
  async stored(type: ResourceType, object: AnyObject, signal: AbortSignal): Promise<JsonObject> {
    if (!type.converter || type.storedApiVersion === apiVersionOf(type)) return toStored(type, object);
    const [converted = object] = await convert({ type, objects: [object], apiVersion: type.storedApiVersion, ask: this.#ask, signal });
    return toStored(type, converted);
  }

  #knownOf(type: ResourceType): WeakMap<Entry, JsonObject> {
    const known = this.#known.get(type) ?? new WeakMap<Entry, JsonObject>();
    this.#known.set(type, known);
    return known;
  }
}

function* batches(entries: readonly Entry[]): Generator<readonly Entry[]> {
  let batch: Entry[] = [];
  let characters = 0;
  for (const entry of entries) {
    if (batch.length > 0 && (batch.length === BATCH.objects || characters + entry.text.length > BATCH.characters)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(entry);
    characters += entry.text.length;
  }
  if (batch.length > 0) yield batch;
}
