/** DELETE of a collection: every object that the selectors match, each by the rules of a single deletion. */
import { isApiError } from '../../../base/errors.ts';
import { decodeBody } from '../request/decode-body.ts';
import { deleteOptions } from '../request/query.ts';
import { selectionOf } from '../request/selection.ts';
import { methodNotAllowed } from '../response/api-errors.ts';
import { respondObjects } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { storePrefix } from '../types/resource-type.ts';
import { deleteObject } from './delete.ts';

export async function deleteCollection(call: Call): Promise<Response> {
  const { parts, type, path, query } = call;
  if (type.isNamespaced && path.namespace === undefined) throw methodNotAllowed();
  const options = deleteOptions(query, (await decodeBody(call.request)) ?? {});
  const { matches } = selectionOf(type, query);
  const entries = parts.store.list(storePrefix(type, path.namespace)).filter((entry) => matches(parts.renderer.selectable(type, entry)));
  await parts.conversions.prepare(type, entries, call.request.signal);
  const objects = entries.map((entry) => parts.renderer.render(type, entry));
  await Promise.all(
    objects.map(async ({ metadata }) => {
      try {
        await deleteObject(call, metadata.name, options);
      } catch (error) {
        if (!isApiError(error, 'NotFound')) throw error; // somebody else deleted it: that is what was asked for
      }
    }),
  );
  return respondObjects(call, objects, { resourceVersion: String(parts.store.revision) });
}
