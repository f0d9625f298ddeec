/**
 * Folders of this machine that a new machine shares: `FOLDER:PLACE[:ro]`. A folder is refused when
 *
 *   it is not there, or no folder                                  nothing to share
 *   it is somebody else's                                          only the user of the cluster gives away what is theirs
 *   somebody else may exchange a folder on the way to it           it would be another one when the machine starts
 *   it holds the data folder of the cluster, or is part of it      the guest would hold the keys of the cluster
 */
import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UserError } from '../../../base/errors.ts';

export type SharedFolder = {
  /** Of the volume, and what the guest mounts it by. */
  readonly tag: string;
  /** On this machine, without links. */
  readonly path: string;
  /** In the guest. */
  readonly place: string;
  readonly isReadOnly: boolean;
};
type Surroundings = { readonly workingFolder: string; readonly home: string };
type Words = { readonly folder: string; readonly place: string; readonly isReadOnly: boolean };

/** They stand in commands of cloud-init: no character means anything there. */
const PLACE = /^(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)+$/;
const FIXES = {
  FILE_MISSING: 'check its path, or make it with mkdir',
  FOLDER_NOT_YOURS: 'share a folder of your own, below your home folder; or copy the files: virtctl scp',
  FOLDER_NOT_SHAREABLE: 'share a folder beside it',
} as const;
/** As many cards as a machine takes beside its disks. */
const MOST = 8;
const [OTHERS_WRITE, GROUP_WRITES, STICKY] = [0o002, 0o020, 0o1000];

export function foldersToShare(texts: readonly string[] = [], { workingFolder, home }: Surroundings): SharedFolder[] {
  if (texts.length > MOST) throw usage(`a machine shares at most ${MOST} folders`, 'share a folder that holds several of them');
  const folders = texts.map((text, index) => {
    const { folder, place, isReadOnly } = parseMount(text);
    return { tag: `mount${index}`, path: shareable(resolve(workingFolder, folder), home), place, isReadOnly };
  });
  const twice = folders.find(({ place }, index) => folders.findIndex((other) => other.place === place) !== index);
  if (twice) throw usage(`--mount names ${twice.place} twice`, 'give each folder a place of its own');
  return folders;
}

/** From the end: the name of a folder may have colons in it. */
export function parseMount(text: string): Words {
  const mode = /:(r[ow])$/.exec(text)?.[1];
  const rest = mode ? text.slice(0, -3) : text;
  const colon = rest.lastIndexOf(':');
  const [folder, place] = [rest.slice(0, Math.max(colon, 0)), rest.slice(colon + 1)];
  if (!folder || !PLACE.test(place) || place.length > 200)
    throw usage(`--mount ${text} does not say which folder the guest sees where`, '--mount .:/work or --mount /srv/data:/data:ro');
  return { folder, place, isReadOnly: mode === 'ro' };
}

function shareable(given: string, home: string): string {
  const path = real(given);
  const stat = path === undefined ? undefined : statSync(path);
  if (path === undefined || !stat?.isDirectory()) throw refused('FILE_MISSING', given, 'there is no such folder', 3);
  const ours = process.getuid?.();
  if (stat.uid !== ours) throw refused('FOLDER_NOT_YOURS', path, `it belongs to user ${stat.uid}, and the cluster to user ${ours}`, 4);
  for (let above = dirname(path); ; above = dirname(above)) {
    if (isExchangeable(statSync(above)))
      throw refused('FOLDER_NOT_YOURS', path, `others may change ${above}, and so put another folder in its place`, 4);
    if (above === '/') break;
  }
  const data = real(home) ?? home;
  if (isWithin(path, data) || isWithin(data, path))
    throw refused('FOLDER_NOT_SHAREABLE', path, `the data folder of the cluster, ${data}, with its keys, would be in the guest`, 4);
  return path;
}

/** Whether somebody besides us and root may rename what is in a folder. The group of a user is taken to be theirs alone. */
function isExchangeable({ uid, gid, mode }: Stats): boolean {
  if (uid !== 0 && uid !== process.getuid?.()) return true;
  if (mode & STICKY) return false;
  return (mode & OTHERS_WRITE) !== 0 || ((mode & GROUP_WRITES) !== 0 && gid !== process.getgid?.() && gid !== 0);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function usage(what: string, fix: string): UserError {
  return new UserError('USAGE', what, { fix, exitCode: 2 });
}

function refused(code: keyof typeof FIXES, path: string, why: string, exitCode: number): UserError {
  return new UserError(code, `${path} cannot be shared with a machine`, { why, fix: FIXES[code], exitCode });
}
