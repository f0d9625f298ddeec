/**
 * Whether a recorded history can be that of one store that loses, doubles and reorders nothing. Pure: a history in, what is wrong with it out.
 *
 *   watch        every watcher sees each change once, in order, whatever connections broke; none is told that its place is forgotten
 *   revision     a revision is one change, for everybody, for ever
 *   lost         an acknowledged write is in the log, once, at the revision that its answer named
 *   doubled      no write is in the log twice, acknowledged or not
 *   refused      a refused write is not in the log
 *   whole        what is in the log is what somebody sent, all of it
 *   lock         a write follows exactly the version that it expected: of two that expect the same one wins
 *   reordered    a write that began after another was acknowledged has a higher revision
 *   list         a list is the state of the log at its revision, which is no older than what was acknowledged, or listed, before it was asked for
 */
import type { History, Item, List, WatchEvent, Write } from './history.ts';

export type Violation = { readonly rule: string; readonly what: string };

/** The writes of the log by what they are known by. */
type Known = { readonly byContent: ReadonlyMap<string, Write>; readonly byDeletion: ReadonlyMap<string, readonly Write[]> };
type Logged = { readonly event: WatchEvent; readonly expected: number; readonly write: Write | undefined };

/** All violations; none for a sound store. Every watcher must have seen everything by then. */
export function checkHistory(history: History): Violation[] {
  const { log, violations } = joined(history);
  const logged = chained(log, known(history.writes));
  return [
    ...violations,
    ...watchViolations(history, log),
    ...logViolations(logged),
    ...writeViolations(history.writes, logged),
    ...orderViolations(logged),
    ...listViolations(history, logged),
  ];
}

/** What all watchers together saw, by revision. */
function joined({ watchers }: History): { log: readonly WatchEvent[]; violations: Violation[] } {
  const byRevision = new Map<number, WatchEvent>();
  const violations: Violation[] = [];
  for (const event of watchers.flatMap(({ events }) => events)) {
    const other = byRevision.get(event.revision);
    if (other && !isSame(other, event)) violations.push({ rule: 'revision', what: `${shown(other)} and ${shown(event)}` });
    byRevision.set(event.revision, event);
  }
  return { log: [...byRevision.values()].sort((a, b) => a.revision - b.revision), violations };
}

function watchViolations({ watchers }: History, log: readonly WatchEvent[]): Violation[] {
  return watchers.flatMap(({ from, events, expired }, index) => {
    const due = log.filter(({ revision }) => revision > from);
    const wrong = events.findIndex((event, place) => event.revision !== due[place]?.revision);
    const at = wrong >= 0 ? wrong : events.length < due.length ? events.length : -1;
    const problem = `watcher ${index} saw ${shown(events[at])} as its event ${at}, due was ${shown(due[at])}`;
    return [
      ...(at >= 0 ? [{ rule: 'watch', what: problem }] : []),
      ...(expired > 0 ? [{ rule: 'watch', what: `watcher ${index} was told ${expired} times that its place is forgotten` }] : []),
    ];
  });
}

function known(writes: readonly Write[]): Known {
  const deletions = writes.filter(({ verb }) => verb === 'delete');
  return {
    byContent: new Map(writes.flatMap((write) => (write.content === undefined ? [] : [[write.content, write] as const]))),
    byDeletion: Map.groupBy(deletions, ({ key, expected }) => `${key} ${expected}`),
  };
}

/** Each change with the version that it replaced and the write that asked for it. */
function chained(log: readonly WatchEvent[], { byContent, byDeletion }: Known): Logged[] {
  const newest = new Map<string, number>();
  return log.map((event) => {
    const expected = newest.get(event.key) ?? 0;
    const isDeletion = event.type === 'DELETED';
    newest.set(event.key, isDeletion ? 0 : event.revision);
    // Of several who wanted to delete the same version it is the one who was told so, if anybody was.
    const deletions = isDeletion ? (byDeletion.get(`${event.key} ${expected}`) ?? []) : [];
    const deletion = deletions.find(({ outcome }) => outcome === 'acknowledged') ?? deletions.find(({ outcome }) => outcome === 'unknown');
    return { event, expected, write: isDeletion ? (deletion ?? deletions[0]) : byContent.get(event.content) };
  });
}

/** What is in the log and should not be there, or not like this. */
function logViolations(logged: readonly Logged[]): Violation[] {
  const seen = new Set<Write>();
  return logged.flatMap(({ event, expected, write }) => {
    if (!write || write.key !== event.key) return [{ rule: 'whole', what: `nobody sent ${shown(event)}` }];
    const isAgain = seen.has(write);
    seen.add(write);
    const type = write.verb === 'create' ? 'ADDED' : write.verb === 'update' ? 'MODIFIED' : 'DELETED';
    return [
      ...(isAgain ? [{ rule: 'doubled', what: `${shown(event)} is there again` }] : []),
      ...(write.outcome === 'refused' ? [{ rule: 'refused', what: `${shown(event)} was refused` }] : []),
      ...(write.expected !== expected
        ? [{ rule: 'lock', what: `${shown(event)} replaced ${expected} and expected ${write.expected}` }]
        : []),
      ...(type !== event.type ? [{ rule: 'lock', what: `${shown(event)} was a ${write.verb}` }] : []),
    ];
  });
}

/** What should be in the log and is not, or elsewhere. */
function writeViolations(writes: readonly Write[], logged: readonly Logged[]): Violation[] {
  const places = new Map(logged.flatMap(({ event, write }) => (write ? [[write, event.revision] as const] : [])));
  const named = new Map<number, Write>();
  return writes
    .filter(({ outcome }) => outcome === 'acknowledged')
    .flatMap((write): Violation[] => {
      const place = places.get(write);
      const other = write.revision === undefined ? undefined : named.get(write.revision);
      if (write.revision !== undefined) named.set(write.revision, write);
      if (other) return [{ rule: 'revision', what: `${write.revision} was named for ${write.key}, and for ${other.key} before` }];
      if (place === undefined) return [{ rule: 'lost', what: `${write.verb} ${write.key} at ${write.revision ?? '?'} was acknowledged` }];
      if (write.revision === undefined || write.revision === place) return [];
      return [{ rule: 'lost', what: `${write.verb} ${write.key} was acknowledged at ${write.revision} and is at ${place}` }];
    });
}

/** By the time at which they began, against the highest that had been acknowledged by then. */
function orderViolations(logged: readonly Logged[]): Violation[] {
  const done = logged.flatMap(({ event, write }) => (write ? [{ write, revision: event.revision }] : []));
  const ended = done.filter(({ write }) => write.outcome === 'acknowledged').sort((a, b) => a.write.end - b.write.end);
  let highest = 0;
  let next = 0;
  return done
    .sort((a, b) => a.write.start - b.write.start)
    .flatMap(({ write, revision }) => {
      for (let other = ended[next]; other && other.write.end < write.start; other = ended[next]) {
        highest = Math.max(highest, other.revision);
        next += 1;
      }
      if (revision > highest) return [];
      return [{ rule: 'reordered', what: `${write.verb} ${write.key} at ${revision} began after ${highest} was acknowledged` }];
    });
}

function listViolations({ lists }: History, logged: readonly Logged[]): Violation[] {
  return [...staleLists(lists, logged), ...wrongLists(lists, logged)];
}

/** Older than something that was known before it was asked for. */
function staleLists(lists: readonly List[], logged: readonly Logged[]): Violation[] {
  const acknowledged = logged.flatMap(({ event, write }) =>
    write?.outcome === 'acknowledged' ? [{ end: write.end, revision: event.revision }] : [],
  );
  const facts = [...acknowledged, ...lists].sort((a, b) => a.end - b.end);
  let highest = 0;
  let next = 0;
  return [...lists]
    .sort((a, b) => a.start - b.start)
    .flatMap(({ start, revision }) => {
      for (let fact = facts[next]; fact && fact.end < start; fact = facts[next]) {
        highest = Math.max(highest, fact.revision);
        next += 1;
      }
      return revision >= highest ? [] : [{ rule: 'list', what: `a list of ${revision} was given when ${highest} was known` }];
    });
}

function wrongLists(lists: readonly List[], logged: readonly Logged[]): Violation[] {
  const state = new Map<string, Item>();
  let next = 0;
  return [...lists]
    .sort((a, b) => a.revision - b.revision)
    .flatMap(({ revision, items }) => {
      for (let place = logged[next]; place && place.event.revision <= revision; place = logged[next]) {
        const { event } = place;
        if (event.type === 'DELETED') state.delete(event.key);
        else state.set(event.key, event);
        next += 1;
      }
      const wrong = items.find((item) => state.get(item.key)?.revision !== item.revision || state.get(item.key)?.content !== item.content);
      if (!wrong && items.length === state.size) return [];
      const what = wrong ? `${wrong.key} at ${wrong.revision}` : `${items.length} of ${state.size} objects`;
      return [{ rule: 'list', what: `a list of ${revision} has ${what}, which the log has not` }];
    });
}

function isSame(a: WatchEvent, b: WatchEvent): boolean {
  return a.type === b.type && a.key === b.key && a.content === b.content;
}

function shown(event: WatchEvent | undefined): string {
  return event ? `${event.type} ${event.key} at ${event.revision} (${event.content.slice(0, 40)})` : 'nothing';
}
