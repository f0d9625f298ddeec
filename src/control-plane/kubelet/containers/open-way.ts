/**
 * The way to a bundle for the root of a user namespace, whom folders above the data folder may be closed to, as the home folder of root is. In
 * mounts of the container's own the topmost of them is covered by an empty folder, in which what is below the last of them is in its old
 * place: every path stays what it is, and whatever else the closed folders hold is not there.
 */
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { IdMapping } from './id-mapping.ts';

type Owned = Pick<Stats, 'uid' | 'gid' | 'mode'>;
/** The folder to cover, and the one to show in its old place. */
export type ClosedWay = { readonly cover: string; readonly show: string };

/**
 * $1 the folder to cover, $2 the one to show, $3... what to run then. `.` is that folder, also when its path leads elsewhere, as long as
 * `mount` does not look for it by its path (-c).
 */
const OPEN = `
cd "$2" && umask 022 && mount -t tmpfs -o mode=755,nosuid,nodev,noexec none "$1" && mkdir -p "$2" && mount -c --rbind . "$2" || exit 125
cd / && shift 2 && exec "$@"`;

/** Words that go before those that enter the user namespace; none where the way is open. */
export function openWay(path: string, mapping: IdMapping): string[] {
  if (mapping.count === 1) return []; // root inside is who we are
  const way = closedWay(path, mapping, statSync);
  return way ? ['unshare', '-m', '--', 'sh', '-c', OPEN, 'open', way.cover, way.show] : [];
}

/** What is in the way of that user; undefined when nothing is. */
export function closedWay(path: string, user: Pick<IdMapping, 'uid' | 'gid'>, stat: (path: string) => Owned): ClosedWay | undefined {
  const folders = foldersTo(path);
  const closed = folders.filter((each) => !mayPass(stat(each), user));
  const [cover] = closed;
  const last = closed.at(-1);
  const show = last === undefined ? undefined : folders[folders.indexOf(last) + 1];
  return cover !== undefined && show !== undefined ? { cover, show } : undefined;
}

function mayPass({ uid, gid, mode }: Owned, user: Pick<IdMapping, 'uid' | 'gid'>): boolean {
  if (uid === user.uid) return (mode & 0o100) !== 0;
  return (mode & (gid === user.gid ? 0o010 : 0o001)) !== 0;
}

/** From the root to the path itself. */
function foldersTo(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [...foldersTo(above), path];
}
