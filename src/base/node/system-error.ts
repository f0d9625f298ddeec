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
  EROFS: {
    code: 'DISK_READ_ONLY',
    what: 'the disk can only be read',
    fix: 'mount it for writing, or choose another folder with VIRT_HOME',
  },
};

/** Undefined for anything else: that says best itself what it is. */
export function explainSystemError(error: unknown): UserError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', syscall, path, dest, address, port } = error as Refused;
  const remedy = isSqliteFull(error) ? ROOM : REMEDIES[code];
  if (!remedy) return explainSystemError(error.cause);
  const where = dest ?? path ?? (port === undefined ? undefined : `${address ?? ''}:${port}`);
  return new UserError(remedy.code, where === undefined ? remedy.what : `${remedy.what} for ${where}`, {
    why: syscall ? `${code} when it was to ${syscall}` : error.message,
    fix: remedy.fix,
    cause: error,
  });
}

function isSqliteFull(error: Error): boolean {
  const SQLITE_FULL = 13;
  return 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === SQLITE_FULL;
}
