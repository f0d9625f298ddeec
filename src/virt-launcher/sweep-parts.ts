/**
 * What killed writers left on a PVC: dumps, backups and disks that never got their names. Those of a machine go with its next one; those of a machine that has none any
 * more with the next of any machine. Whoever writes changes its files, and is seen to: what nobody has changed for an hour belongs to nobody. The hour is that
 * of the file system, so that nodes whose clocks differ agree. A lock would be known at once, but Node has none, busybox no program for it, and some NFS none
 * either. Should one be taken from a writer after all, as from a host that slept, then what it writes fails as a whole.
 */
import { lstatSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** Folders of backups: of one machine, and as an earlier release called that of all. */
const BACKUP_PART = /^\.(?:[a-z0-9][a-z0-9.-]*\.)?backup\.part$/;
/** A disk that was not ready, also as an earlier release called it, and the note of its format. */
const DISK_PART = /^disk\.img\.(?:unfinished(?:-[0-9a-f]{16})?|format\.[0-9a-f-]{36}\.tmp)$/;
const DUMP_PART = /^[a-z0-9][a-z0-9.-]*-\d{8}-\d{6}\.memory\.dump\.part$/;
const DEAD_MS = 60 * 60_000;

/** Removes those that nobody writes any more. `nowMs` is when the file system says that something was made just now. */
export function sweepParts(root: string, nowMs: number): void {
  for (const name of readdirSync(root)) {
    const path = join(root, name);
    try {
      if (isPart(name, lstatSync(path)) && nowMs - changedMs(path) > DEAD_MS) rmSync(path, { force: true, recursive: true });
    } catch {
      // It has just gone, or is not ours to remove: the new one may still have room beside it.
    }
  }
}

function isPart(name: string, found: Stats): boolean {
  return (found.isDirectory() && BACKUP_PART.test(name)) || (found.isFile() && (DUMP_PART.test(name) || DISK_PART.test(name)));
}

/** When it, or anything in it, was changed last. */
function changedMs(path: string): number {
  const found = lstatSync(path);
  const within = found.isDirectory() ? readdirSync(path).map((name) => changedMs(join(path, name))) : [];
  return within.reduce((last, each) => Math.max(last, each), found.mtimeMs);
}
