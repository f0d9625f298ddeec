/** Shows or changes how much components say, by the KubeVirt object. */
import { DEFAULT_VERBOSITY, VERBOSITY_FIELDS } from '../../../../api/kubevirt/configuration/log-verbosity.ts';
import { KUBEVIRTS } from '../../../../api/kubevirt/kinds/kubevirt.ts';
import { UserError } from '../../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';

type Level = number | undefined;
type VerbosityFlags = ConnectionFlags & {
  readonly all?: number;
  readonly virtApi?: number;
  readonly virtController?: number;
  readonly virtHandler?: number;
  readonly virtLauncher?: number;
  readonly virtOperator?: number;
  readonly reset: boolean;
};

export async function run({ client, stdout }: ClusterDeps, flags: VerbosityFlags): Promise<void> {
  const asked = askedOf(flags);
  const [kubeVirt] = (await client.list(KUBEVIRTS)).items;
  if (!kubeVirt) throw new UserError('NOT_INSTALLED', 'this cluster has no KubeVirt object', { fix: 'virtctl install', exitCode: 4 });
  const before = kubeVirt.spec.configuration?.developerConfiguration?.logVerbosity ?? {};
  if (!flags.reset && Object.keys(asked).length === 0) {
    stdout.write(shown(before));
    return;
  }
  // In a merge patch, null takes a field away.
  const forgotten = flags.reset ? Object.fromEntries(Object.keys(before).map((field) => [field, null])) : {};
  const logVerbosity = { ...forgotten, ...asked };
  const { name, namespace } = kubeVirt.metadata;
  await client.patch(KUBEVIRTS, { name, namespace }, { spec: { configuration: { developerConfiguration: { logVerbosity } } } });
  stdout.write('successfully set/reset the log verbosity\n');
}

function askedOf(flags: VerbosityFlags): Readonly<Record<string, number>> {
  const levels: Readonly<Record<keyof typeof VERBOSITY_FIELDS, Level>> = {
    'virt-api': flags.virtApi ?? flags.all,
    'virt-controller': flags.virtController ?? flags.all,
    'virt-handler': flags.virtHandler ?? flags.all,
    'virt-launcher': flags.virtLauncher ?? flags.all,
    'virt-operator': flags.virtOperator ?? flags.all,
  };
  const asked = componentsOf().flatMap((component): [string, number][] => {
    const level = levels[component];
    if (level === undefined) return [];
    if (!Number.isInteger(level) || level < 0 || level > 9)
      throw new UserError('USAGE', `the verbosity of ${component} cannot be ${level}`, { fix: 'a number from 0 to 9', exitCode: 2 });
    return [[VERBOSITY_FIELDS[component], level]];
  });
  return Object.fromEntries(asked);
}

function shown(levels: Readonly<Partial<Record<string, unknown>>>): string {
  return componentsOf()
    .map((component) => `${component} = ${levels[VERBOSITY_FIELDS[component]] ?? DEFAULT_VERBOSITY}\n`)
    .join('');
}

function componentsOf(): (keyof typeof VERBOSITY_FIELDS)[] {
  return Object.keys(VERBOSITY_FIELDS) as (keyof typeof VERBOSITY_FIELDS)[]; // the keys of a record are its keys
}
