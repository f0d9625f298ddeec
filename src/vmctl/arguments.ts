/** What the command line of vmctl says. */
import { parseArgs } from 'node:util';
import { messageOf, UserError } from '../base/errors.ts';

export type Arguments = {
  /** The name of the machine to derive from. */
  readonly prototype: string;
  /** Where the derived machine is to be. */
  readonly namespace: string;
  readonly protoNamespace: string;
  /** In place of the Pod's name. */
  readonly hostnameOverride?: string;
};

export const USAGE = `Usage: vmctl [--namespace NS] [--proto-namespace NS] [--hostname-override NAME] PROTOTYPE

Keeps a virtual machine beside its Pod: derived from the machine PROTOTYPE, on the Pod's node, for as long as the Pod is there.

  --namespace NS            where the derived machine is made (default: default)
  --proto-namespace NS      where the prototype is (default: the same)
  --hostname-override NAME  in place of the Pod's name, of which the name of the machine is made
  --version                 print the version
  --help                    print this
`;

/** Throws USAGE with the mistake; `help` and `version` win over everything else. */
export function parseArguments(argv: readonly string[]): Arguments | 'help' | 'version' {
  const { values, positionals } = parse(argv);
  if (values.help) return 'help';
  if (values.version) return 'version';
  const [prototype, ...others] = positionals;
  if (!prototype) throw usage('vmctl takes the name of one machine, the prototype, and got none');
  if (others.length > 0) throw usage(`vmctl takes one machine, got: ${positionals.join(' ')}`);
  const { namespace = 'default', 'proto-namespace': protoNamespace = namespace, 'hostname-override': hostnameOverride } = values;
  for (const [flag, value] of Object.entries(values)) if (value === '') throw usage(`--${flag} is empty`);
  return { prototype, namespace, protoNamespace, ...(hostnameOverride !== undefined && { hostnameOverride }) };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        namespace: { type: 'string', short: 'n' },
        'proto-namespace': { type: 'string' },
        'hostname-override': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw usage(messageOf(error));
  }
}

function usage(what: string): UserError {
  return new UserError('USAGE', what, {
    fix: 'vmctl [--namespace NS] [--proto-namespace NS] [--hostname-override NAME] PROTOTYPE',
    exitCode: 2,
  });
}
