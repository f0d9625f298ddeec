/** Which machine the words of `virtctl shell` mean, and what is to run there. */
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { UserError } from '../../base/errors.ts';
import { vmName } from '../vm-target.ts';

export type ShellWords = { readonly name?: string; readonly command?: readonly string[] };

const MOST_NAMES = 10;

/** `[NAME] [-- COMMAND ...]`. */
export function parseShellWords(words: readonly string[]): ShellWords {
  const at = words.indexOf('--');
  const [names, command] = at < 0 ? [words, undefined] : [words.slice(0, at), words.slice(at + 1)];
  if (command?.length === 0) throw usage('there is no command behind --', 'virtctl shell my-vm -- uptime');
  const [first = '', ...rest] = names;
  if (!command && rest.length > 0 && !/^vmi?s?$/i.test(first))
    throw usage('a command stands behind --', `virtctl shell ${first} -- ${rest.join(' ')}`);
  return { ...(names.length > 0 && { name: vmName('shell', names) }), ...(command && { command }) };
}

/** The only one that runs, or is on its way to it. */
export function onlyRunning(vmis: readonly VirtualMachineInstance[], namespace: string): string {
  const names = vmis.filter((vmi) => !isFinal(vmi)).map(({ metadata }) => metadata.name);
  const [only, ...others] = names.sort();
  if (only === undefined)
    throw new UserError('NO_MACHINE', `no machine runs in namespace ${namespace}`, {
      why: 'none was named, so the only one that runs would have been meant',
      fix: 'virtctl run tiny makes one; virtctl start NAME starts one that is there',
      exitCode: 3,
    });
  if (others.length === 0) return only;
  const shown = names.slice(0, MOST_NAMES).join(', ');
  throw new UserError('USAGE', `which machine? ${names.length} run in namespace ${namespace}`, {
    why: names.length > MOST_NAMES ? `${shown} and others` : shown,
    fix: `virtctl shell ${only}`,
    exitCode: 2,
  });
}

function usage(what: string, fix: string): UserError {
  return new UserError('USAGE', what, { fix, exitCode: 2 });
}
