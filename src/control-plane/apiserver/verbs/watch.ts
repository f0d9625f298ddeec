/** GET of a collection with `watch`: every change after a revision, in order, one JSON document per line, until somebody ends it. */
import { ApiError } from '../../../base/errors.ts';
import { negotiate } from '../request/negotiate.ts';
import { isTrue } from '../request/path-grammar.ts';
import { resourceVersionOf, wholeNumber } from '../request/query.ts';
import { selectionOf } from '../request/selection.ts';
import { addWarnings } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { storePrefix } from '../types/resource-type.ts';
import { WatchStream } from './watch-stream.ts';

const BOOKMARK_INTERVAL_MS = 60_000;
const MIN_TIMEOUT_MS = 30 * 60_000;

export async function watch(call: Call): Promise<Response> {
  const { parts, type, path, query, request } = call;
  const representation = negotiate(request);
  const isInitial = initialEventsWanted(query);
  const wantsBookmarks = isTrue(query.get('allowWatchBookmarks'));
  const selection = watchSelection(call);
  const from = resourceVersionOf(query);
  const stream = new WatchStream({ call, representation, selection });
  const prefix = storePrefix(type, path.namespace);
  if (isInitial || from === undefined || from === 0) {
    stream.addAll(parts.store.list(prefix));
    if (isInitial && wantsBookmarks) stream.addBookmark(parts.store.revision, { isEndOfInitial: true });
    stream.follow(prefix, parts.store.revision);
  } else {
    stream.follow(prefix, from);
  }
  const done = AbortSignal.any([request.signal, parts.closed, type.retired, stream.ended]);
  const forget = parts.openStreams.add({ ...call.permission, end: () => stream.cut() });
  const end = () => {
    forget();
    stream.end();
  };
  done.addEventListener('abort', end, { once: true });
  if (done.aborted) end();
  void endAfter(call, stream, { done, wantsBookmarks });
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  addWarnings(headers, call.warnings);
  return new Response(stream.readable, { headers });
}

/** A watch of one object is a watch of the collection with its name selected. */
function watchSelection({ type, path, query }: Call) {
  const selection = selectionOf(type, query);
  if (path.name === undefined) return selection;
  return {
    isEverything: false,
    matches: (object: Parameters<typeof selection.matches>[0]) => object.metadata.name === path.name && selection.matches(object),
  };
}

/** `sendInitialEvents` and `resourceVersionMatch` are only legal together. */
function initialEventsWanted(query: URLSearchParams): boolean {
  const value = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  const refuse = (field: string, message: string): never => {
    throw new ApiError('Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
      details: { group: 'meta.k8s.io', kind: 'ListOptions', causes: [{ reason: 'FieldValueForbidden', message, field }] },
    });
  };
  if (value === null) {
    if (match !== '')
      refuse('resourceVersionMatch', 'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    return false;
  }
  if (match !== 'NotOlderThan')
    refuse('resourceVersionMatch', 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  return isTrue(value);
}

/** Bookmarks once in a while and before the planned end, then the end. */
async function endAfter(
  { parts, query }: Call,
  stream: WatchStream,
  options: { done: AbortSignal; wantsBookmarks: boolean },
): Promise<void> {
  const asked = wholeNumber(query, 'timeoutSeconds');
  // Spread over half an hour, so that clients which came together do not come back together.
  const timeoutMs = asked ? asked * 1000 : MIN_TIMEOUT_MS * (1 + Math.random());
  const endMs = parts.clock.steady() + timeoutMs;
  while (!options.done.aborted) {
    const leftMs = endMs - parts.clock.steady();
    if (leftMs <= 0) break;
    await parts.clock.sleep(Math.min(leftMs, BOOKMARK_INTERVAL_MS), options.done);
    if (options.wantsBookmarks && !options.done.aborted) stream.addBookmark(parts.store.revision);
  }
  stream.end();
}
