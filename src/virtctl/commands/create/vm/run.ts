/** Writes the manifest of a machine; nothing is created. */
import { stringify } from 'yaml';
import type { RunStrategy } from '../../../../api/kubevirt/kinds/virtual-machine.ts';
import { UserError } from '../../../../base/errors.ts';
import { type AccessCredential, parseAccessCredential } from '../../../create/parse-access-credential.ts';
import { parseAmount } from '../../../create/parse-amount.ts';
import { parseVolume } from '../../../create/parse-volume.ts';
import { randomName } from '../../../create/random-name.ts';
import { firstUserData } from '../../../create/user-data.ts';
import { buildVm } from '../../../create/vm.ts';
import type { Deps } from '../../../deps.ts';
import { readInput } from '../../../read-input.ts';

type CreateFlags = {
  readonly name?: string;
  readonly namespace?: string;
  readonly runStrategy: RunStrategy;
  readonly terminationGracePeriod: number;
  readonly memory: string;
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
  const vm = buildVm({
    ...(flags.namespace && { namespace: flags.namespace }),
    name: flags.name ?? randomName('vm'),
    runStrategy: flags.runStrategy,
    memory: parseAmount('--memory', flags.memory),
    ...(flags.cpus !== undefined && { cpus: flags.cpus }),
    gracePeriodSeconds: flags.terminationGracePeriod,
    images: (flags.volumeContainerdisk ?? []).map(parseVolume),
    claims: (flags.volumePvc ?? []).map(parseVolume),
    ...cloudInitOf(flags, accessCredentials),
    accessCredentials,
  });
  stdout.write(stringify(vm, { lineWidth: 0 }));
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
