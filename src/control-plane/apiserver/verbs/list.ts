/** GET of a collection: the current state, or an earlier one that is still known, whole or in pages. */
import { ApiError } from '../../../base/errors.ts';
import type { Entry } from '../../store/entry.ts';
import { positionOf } from '../../store/state.ts';
import { resourceVersionOf, wholeNumber } from '../request/query.ts';
import { type Selection, selectionOf } from '../request/selection.ts';
import { type ListMetadata, respondList } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { type AnyObject, storePrefix } from '../types/resource-type.ts';

type Continue = { readonly revision: number; readonly after: string };

export async function list(call: Call): Promise<Response> {
  const { parts, type, query } = call;
  const selection = selectionOf(type, query);
  const limit = wholeNumber(query, 'limit') ?? 0;
  const token = decodeContinue(query.get('continue'));
  const { entries, revision } = token ? continued(call, token) : await snapshot(call);
  const rest = token ? entries.slice(firstAfter(entries, token.after)) : entries;
  const { matching, remaining } = pageOf(rest, { limit, selection, objectOf: (entry) => parts.renderer.selectable(type, entry) });
  await parts.conversions.prepare(type, matching, call.request.signal);
  const last = matching.at(-1);
  const metadata: ListMetadata = {
    resourceVersion: String(revision),
    ...(remaining > 0 && last && { continue: encodeContinue({ revision, after: last.key }) }),
    ...(remaining > 0 && selection.isEverything && { remainingItemCount: remaining }),
  };
  return respondList(call, matching, metadata);
}

type PageOptions = { readonly limit: number; readonly selection: Selection; readonly objectOf: (entry: Entry) => AnyObject };

/** The first `limit` entries that are selected, 0 for all of them, and how many come after the last one. */
function pageOf(entries: readonly Entry[], { limit, selection, objectOf }: PageOptions): { matching: readonly Entry[]; remaining: number } {
  const most = limit > 0 ? limit : entries.length;
  // Among ten thousand objects a page must cost no more than among a hundred.
  if (selection.isEverything) return { matching: entries.slice(0, most), remaining: Math.max(0, entries.length - most) };
  const matching: Entry[] = [];
  for (const [index, entry] of entries.entries()) {
    if (matching.length === most) return { matching, remaining: entries.length - index };
    if (selection.matches(objectOf(entry))) matching.push(entry);
  }
  return { matching, remaining: 0 };
}

function firstAfter(entries: readonly Entry[], key: string): number {
  const position = positionOf(entries, key);
  return entries[position]?.key === key ? position + 1 : position;
}

/** The state a first page is read from, by the rules for resourceVersion and resourceVersionMatch. */
async function snapshot(call: Call): Promise<{ entries: Entry[]; revision: number }> {
  const { parts, type, path, query } = call;
  const prefix = storePrefix(type, path.namespace);
  const wanted = resourceVersionOf(query);
  const match = query.get('resourceVersionMatch') ?? '';
  assertMatch(match, wanted);
  if (wanted !== undefined && wanted > parts.store.revision) throw tooLarge(wanted, parts.store.revision);
  if (match === 'Exact' && wanted !== undefined) return { entries: parts.store.listAt(prefix, wanted), revision: wanted };
  return { entries: parts.store.list(prefix), revision: parts.store.revision };
}

/** Later pages come from the revision of the first; when that is forgotten, the token for an inconsistent rest is offered. */
function continued({ parts, type, path }: Call, { revision, after }: Continue): { entries: Entry[]; revision: number } {
  try {
    return { entries: parts.store.listAt(storePrefix(type, path.namespace), revision), revision };
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'Expired') throw error;
    throw new ApiError(
      'Expired',
      `The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results: ${encodeContinue({ revision: parts.store.revision, after })}`,
      { cause: error },
    );
  }
}

function assertMatch(match: string, wanted: number | undefined): void {
  if (match === '') return;
  const refuse = (message: string) => {
    throw new ApiError('Invalid', `resourceVersionMatch: ${message}`, {
      details: { causes: [{ reason: 'FieldValueForbidden', message, field: 'resourceVersionMatch' }] },
    });
  };
  if (match !== 'Exact' && match !== 'NotOlderThan') refuse(`Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`);
  if (wanted === undefined) refuse('Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && wanted === 0) refuse('Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
}

/** A version the server has not reached: a client that talks to one server only can get it from nowhere. */
function tooLarge(wanted: number, current: number): ApiError {
  return new ApiError('Timeout', `Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version', field: '' }],
      retryAfterSeconds: 1,
    },
  });
}

function encodeContinue(token: Continue): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.after })).toString('base64url');
}

function decodeContinue(text: string | null): Continue | undefined {
  if (!text) return undefined;
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString()) as { rv: unknown; start: unknown };
    if (typeof token.rv === 'number' && typeof token.start === 'string') return { revision: token.rv, after: token.start };
  } catch {
    // answered below, like every other token that is not ours
  }
  throw new ApiError('BadRequest', 'continue key is not valid: encoded continue tokens are opaque');
}
