/** Writes the manifest of a machine; nothing is created. */
import { stringify } from 'yaml';
import type { RunStrategy } from '../../../../api/kubevirt/kinds/virtual-machine.ts';
import { UserError } from '../../../../base/errors.ts';
import { type AccessCredential, buildVm } from '../../../../sdk/manifest/vm.ts';
import { type ChoiceFlags, parseChoice } from '../../../create/choices.ts';
import { DEFAULT_MEMORY } from '../../../create/flags.ts';
import { parseAccessCredential } from '../../../create/parse-access-credential.ts';
import { parseAmount } from '../../../create/parse-amount.ts';
import { parseVolume } from '../../../create/parse-volume.ts';
import { randomName } from '../../../create/random-name.ts';
import { firstUserData } from '../../../create/user-data.ts';
import type { Deps } from '../../../deps.ts';
import { readInput } from '../../../read-input.ts';

type CreateFlags = ChoiceFlags & {
  readonly name?: string;
  readonly namespace?: string;
  readonly runStrategy: RunStrategy;
  readonly terminationGracePeriod: number;
  readonly memory?: string;
  readonly cpus?: number;
  readonly volumeContainerdisk?: readonly string[];
  readonly volumePvc?: readonly string[];
  readonly cloudInit: 'noCloud' | 'none';
  readonly cloudInitUserData?: string;
  readonly cloudInitNetworkData?: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly sshKey?: readonly string[];
  readonly gaManageSsh: boolean;
  readonly accessCred?: readonly string[];
};

export function run({ stdout }: Deps, flags: CreateFlags): void {
  const accessCredentials = (flags.accessCred ?? []).map((each) => parseAccessCredential(each, flags.user));
  const claims = (flags.volumePvc ?? []).map(parseVolume);
  const claimed = claims.map(({ name, source }) => name ?? source);
  const instancetype = parseChoice('instancetype', flags, claimed);
  const preference = parseChoice('preference', flags, claimed);
  const isSized = instancetype !== undefined && instancetype.inferFromVolumeFailurePolicy !== 'Ignore';
  const vm = buildVm({
    ...(flags.namespace && { namespace: flags.namespace }),
    name: flags.name ?? randomName('vm'),
    runStrategy: flags.runStrategy,
    ...memoryOf(flags, isSized),
    ...(instancetype && { instancetype }),
    ...(preference && { preference }),
    ...(flags.cpus !== undefined && { cpus: flags.cpus }),
    gracePeriodSeconds: flags.terminationGracePeriod,
    images: (flags.volumeContainerdisk ?? []).map(parseVolume),
    claims,
    ...cloudInitOf(flags, accessCredentials),
    accessCredentials,
  });
  stdout.write(stringify(vm, { lineWidth: 0 }));
}

/** An instance type says it; in case none is found, the default is there. */
function memoryOf({ memory, cpus, instancetype }: CreateFlags, isSized: boolean): { readonly memory?: string } {
  if (!isSized) return { memory: parseAmount('--memory', memory ?? DEFAULT_MEMORY) };
  if (memory === undefined && cpus === undefined) return {};
  throw new UserError('USAGE', `--${memory === undefined ? 'cpus' : 'memory'} cannot be combined with an instance type`, {
    why: `${instancetype ?? 'the instance type'} says how big the machine is`,
    exitCode: 2,
  });
}

function cloudInitOf(flags: CreateFlags, accessCredentials: readonly AccessCredential[]) {
  const { cloudInit, cloudInitUserData, cloudInitNetworkData, user, passwordFile, sshKey = [], gaManageSsh } = flags;
  const needsVolume = accessCredentials.some(({ sshPublicKey }) => sshPublicKey?.propagationMethod.noCloud);
  if (cloudInit === 'none') {
    if (!needsVolume) return {};
    throw new UserError('USAGE', '--access-cred with method:nocloud cannot be combined with --cloud-init none', {
      why: 'cloud-init brings the keys into the guest',
      fix: 'leave --cloud-init out, or say method:ga,user:NAME',
      exitCode: 2,
    });
  }
  const password = passwordFile === undefined ? undefined : readInput(passwordFile).toString('utf8').trim();
  const ofFirstUser = firstUserData({
    sshKeys: sshKey,
    letsAgentManageSsh: gaManageSsh,
    ...(user && { user }),
    ...(password && { password }),
  });
  if (ofFirstUser && cloudInitUserData) {
    throw new UserError('USAGE', '--cloud-init-user-data cannot be combined with --user, --password-file, --ssh-key or --ga-manage-ssh', {
      why: 'both say what cloud-init is told',
      fix: 'put the user into the document that --cloud-init-user-data gives',
      exitCode: 2,
    });
  }
  const written = ofFirstUser ?? (needsVolume && !cloudInitUserData ? '#cloud-config\n' : undefined);
  const userDataBase64 = written ? Buffer.from(written).toString('base64') : cloudInitUserData;
  return { ...(userDataBase64 && { userDataBase64 }), ...(cloudInitNetworkData && { networkDataBase64: cloudInitNetworkData }) };
}
