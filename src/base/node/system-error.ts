/** What the operating system refuses, for people: the few refusals that have a remedy of their own. */
import { UserError } from '../errors.ts';

/** What Node adds for files and for sockets. */
type Refused = NodeJS.ErrnoException & { readonly dest?: string; readonly address?: string; readonly port?: number };
type Remedy = { readonly code: string; readonly what: string; readonly fix: string };

const ROOM: Remedy = {
  code: 'DISK_FULL',
  what: 'there is no space left',
  fix: 'free some space on that disk (df -h shows how full it is), then try again: nothing that was there is lost',
};
const REMEDIES: Readonly<Record<string, Remedy>> = {
  ENOSPC: ROOM,
  EDQUOT: { ...ROOM, what: 'the quota of the disk is used up' },
  EADDRINUSE: {
    code: 'PORT_IN_USE',
    what: 'another program listens there already',
    fix: 'end that program (ss -lptn shows it), or choose another port',
  },
  EMFILE: {
    code: 'TOO_MANY_FILES',
    what: 'too many files are open',
    fix: 'allow more with ulimit -n, then try again',
  },
  EISDIR: {
    code: 'NOT_A_FILE',
    what: 'a folder is in the place of a file',
    fix: 'move that folder away; if the file had anything that is needed, put it back from a copy',
  },
  ENOTDIR: {
    code: 'NOT_A_FOLDER',
    what: 'a file is in the place of a folder',
    fix: 'move that file away; if the folder had anything that is needed, put it back from a copy',
  },
  EACCES: {
    code: 'ACCESS_DENIED',
    what: 'this user may not do that',
    fix: 'ls -ld shows who may: a data folder belongs, with all that is in it, to the one user who starts its cluster (chown -R), or choose another with VIRT_HOME',
  },
  EIO: {
    code: 'DISK_FAILS',
    what: 'the disk fails',
    fix: 'dmesg says more; copy what can still be read to another disk before anything else',
  },
  EROFS: {
    code: 'DISK_READ_ONLY',
    what: 'the disk can only be read',
    fix: 'mount it for writing, or choose another folder with VIRT_HOME',
  },
};

const OTHER_NAMES: Readonly<Record<string, string>> = { 'EEXIST mkdir': 'ENOTDIR', 'ERR_FS_EISDIR rm': 'EISDIR' };

/** Undefined for anything else: that says best itself what it is. */
export function explainSystemError(error: unknown): UserError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', syscall, path, dest, address, port } = error as Refused;
  const remedy = isSqliteFull(error) ? ROOM : REMEDIES[OTHER_NAMES[`${code} ${syscall}`] ?? code];
  if (!remedy) return explainSystemError(error.cause);
  const where = dest ?? path ?? (port === undefined ? undefined : `${address ?? ''}:${port}`);
  return new UserError(remedy.code, where === undefined ? remedy.what : `${remedy.what} for ${where}`, {
    why: syscall ? `${code} when it was to ${syscall}` : error.message,
    fix: remedy.fix,
    cause: error,
  });
}

/** No room for what a store of objects, a volume or a file was to take. */
export function noRoom(where: string, cause: Error): UserError {
  return new UserError(ROOM.code, `${ROOM.what} for ${where}`, { why: cause.message, fix: ROOM.fix, cause });
}

const SQLITE_FULL = 13;
/** The memory that users of a database share is a file, which could not grow. */
const SQLITE_IOERR_SHMSIZE = 4874;

function isSqliteFull(error: Error): boolean {
  if (!('errcode' in error) || typeof error.errcode !== 'number') return false;
  return (error.errcode & 0xff) === SQLITE_FULL || error.errcode === SQLITE_IOERR_SHMSIZE;
}
