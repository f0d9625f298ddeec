/** Label and field selectors of a request as one question about an object. */
import { ApiError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { matchesLabels, parseFieldSelector, parseLabelSelector } from '../../../base/selectors.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';

/** `isEverything` lets a list say how many items remain, which only makes sense when nothing was left out. */
export type Selection = { readonly matches: (object: AnyObject) => boolean; readonly isEverything: boolean };

const COMMON_FIELDS = ['metadata.name', 'metadata.namespace'];

/** What a request selects; BadRequest for a bad grammar or a field that the kind does not offer. */
export function selectionOf(type: ResourceType, query: URLSearchParams): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  for (const { path } of fields) {
    if (!COMMON_FIELDS.includes(path) && !type.selectableFields.includes(path)) {
      throw new ApiError('BadRequest', unselectable(type, path));
    }
  }
  return {
    isEverything: labels.length === 0 && fields.length === 0,
    matches: (object) =>
      matchesLabels(labels, object.metadata.labels) &&
      fields.every(({ path, value, isNegated }) => (fieldOf(object, path) === value) !== isNegated),
  };
}

/** The real server has a text of its own for kinds that offer nothing but the common fields. */
function unselectable({ isBuiltIn, selectableFields }: ResourceType, path: string): string {
  if (!isBuiltIn || selectableFields.length > 0) return `field label not supported: ${path}`;
  return `${JSON.stringify(path)} is not a known field selector: only ${COMMON_FIELDS.map((each) => JSON.stringify(each)).join(', ')}`;
}

/** The text a field selector compares with; what is absent is the empty text, false for booleans. */
function fieldOf(object: AnyObject, path: string): string {
  // The core event's `source` means its component.
  const segments = path === 'source' ? ['source', 'component'] : path.split('.');
  let value: unknown = object;
  for (const segment of segments) value = isObject(value) ? value[segment] : undefined;
  if (value === undefined || value === null) return path === 'spec.unschedulable' || path === 'spec.hostNetwork' ? 'false' : '';
  return String(value);
}
