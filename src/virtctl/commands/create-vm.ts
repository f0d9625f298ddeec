/** Writes the manifest of a machine; nothing is created. */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { RunStrategy } from '../../api/kubevirt/virtual-machine.ts';
import { UserError } from '../../base/errors.ts';
import type { Context } from '../context.ts';
import { buildMachine } from '../create/machine.ts';
import { parseMemory } from '../create/parse-memory.ts';
import { parseVolume } from '../create/parse-volume.ts';
import { randomName } from '../create/random-name.ts';
import { firstUserData } from '../create/user-data.ts';

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
};

export function createVm(this: Context, flags: CreateFlags): void {
  const vm = buildMachine({
    ...(flags.namespace && { namespace: flags.namespace }),
    name: flags.name ?? randomName('vm'),
    runStrategy: flags.runStrategy,
    memory: parseMemory(flags.memory),
    ...(flags.cpus !== undefined && { cpus: flags.cpus }),
    gracePeriodSeconds: flags.terminationGracePeriod,
    images: (flags.volumeContainerdisk ?? []).map(parseVolume),
    claims: (flags.volumePvc ?? []).map(parseVolume),
    ...cloudInitOf(flags),
  });
  this.process.stdout.write(stringify(vm, { lineWidth: 0 }));
}

function cloudInitOf({ cloudInit, cloudInitUserData, cloudInitNetworkData, user, passwordFile, sshKey = [] }: CreateFlags) {
  if (cloudInit === 'none') return {};
  const password = passwordFile === undefined ? undefined : readFileSync(passwordFile, 'utf8').trim();
  const ofFirstUser = firstUserData({ sshKeys: sshKey, ...(user && { user }), ...(password && { password }) });
  if (ofFirstUser && cloudInitUserData) {
    throw new UserError('USAGE', '--cloud-init-user-data cannot be combined with --user, --password-file or --ssh-key', {
      why: 'both say what cloud-init is told',
      fix: 'put the user into the document that --cloud-init-user-data gives',
      exitCode: 2,
    });
  }
  const userDataBase64 = ofFirstUser ? Buffer.from(ofFirstUser).toString('base64') : cloudInitUserData;
  return { ...(userDataBase64 && { userDataBase64 }), ...(cloudInitNetworkData && { networkDataBase64: cloudInitNetworkData }) };
}
