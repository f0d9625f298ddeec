/** The arguments of the ssh that `virtctl shell` becomes. Pure. */
import { quotedForShell, type SshOptions, sshArguments } from '../ssh/arguments.ts';

export type ShellLogin = Omit<SshOptions, 'knownHosts' | 'localSshOpts' | 'trustsApi' | 'username' | 'triesOwnKeys'> & {
  readonly name: string;
  readonly user: string;
  /** The key is ours: no other one is shown to the guest. */
  readonly isOurKey: boolean;
  /** A file that ssh makes once it is logged in: its exit code alone does not say whether it was. */
  readonly loggedInFile: string;
  /** The words of a program, or none for a login. */
  readonly command?: readonly string[] | undefined;
  readonly stdin: boolean;
};

const CONNECT_WITHIN_SECONDS = 30;

export function shellSshArguments({ name, user, isOurKey, loggedInFile, command, stdin, ...options }: ShellLogin): string[] {
  const local = [
    ...['-o', `ConnectTimeout=${CONNECT_WITHIN_SECONDS}`],
    ...['-o', 'PermitLocalCommand=yes', '-o', `LocalCommand=: > ${quotedForShell(loggedInFile.replaceAll('%', '%%'))}`],
    ...(isOurKey ? ['-o', 'IdentitiesOnly=yes'] : []),
    ...(command ? ['-T', '-o', 'BatchMode=yes', ...(stdin ? [] : ['-n'])] : []),
  ];
  const to = { ...options, username: user, trustsApi: true, localSshOpts: local };
  return sshArguments(`vmi/${name}`, to, command ? ['--', commandLine(command)] : []);
}

/** The words as one line for a shell: ssh has no other way to hand them on. */
export function commandLine(words: readonly string[]): string {
  return words.map(quotedForShell).join(' ');
}
