/** DELETE of a collection: every object that the selectors match, each by the rules of a single deletion. */
import { isApiError } from '../../../base/errors.ts';
import { methodNotAllowed } from '../api-errors.ts';
import { decodeBody } from '../decode-body.ts';
import { deleteOptions } from '../query.ts';
import { storePrefix } from '../resource-type.ts';
import { respondObjects } from '../respond.ts';
import { selectionOf } from '../selection.ts';
import type { Call } from '../server-parts.ts';
import { deleteObject } from './delete.ts';

export async function deleteCollection(call: Call): Promise<Response> {
  const { parts, type, path, query } = call;
  if (type.isNamespaced && path.namespace === undefined) throw methodNotAllowed();
  const options = deleteOptions(query, (await decodeBody(call.request)) ?? {});
  const { matches } = selectionOf(type, query);
  const objects = parts.store
    .list(storePrefix(type, path.namespace))
    .map((entry) => parts.renderer.render(type, entry))
    .filter(matches);
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
