/** The cloud-init disk (NoCloud): a small ISO with the label cidata. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { hostnameOf } from '../api/kubevirt/hostname.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { machineUuid } from '../qemu/convert/machine.ts';
import { createIso } from './iso9660.ts';

type Vmi = Pick<VirtualMachineInstance, 'metadata' | 'spec'>;
type CloudInit = NonNullable<Volume['cloudInitNoCloud']>;

type IsoOptions = {
  readonly vmi: Vmi;
  readonly source: CloudInit;
  /** Where the Secret of a secretRef is mounted. */
  readonly secretFolder?: string;
  /** For the default user of the guest. */
  readonly publicKeys?: readonly string[];
};

/** The bytes of the disk. */
export function cloudInitIso({ vmi, source, secretFolder, publicKeys = [] }: IsoOptions): Buffer {
  const networkConfig = source.networkData ?? decoded(source.networkDataBase64, 'networkDataBase64');
  return createIso('cidata', {
    'meta-data': metaData(vmi, publicKeys),
    'user-data': userData(source, secretFolder),
    ...(networkConfig !== undefined && { 'network-config': networkConfig }),
  });
}

/** The instance id is the machine's, so that cloud-init does its first-boot work once in the life of a machine, not at every start. */
function metaData(vmi: Vmi, publicKeys: readonly string[]): string {
  const name = hostnameOf(vmi);
  const keys = Object.fromEntries(publicKeys.map((key, index) => [String(index), key]));
  return `${JSON.stringify({
    'instance-id': machineUuid(vmi) ?? `${name}.${vmi.metadata.namespace ?? 'default'}`,
    'local-hostname': name,
    ...(publicKeys.length > 0 && { 'public-keys': keys }),
  })}\n`;
}

/** Every value of a mounted Secret is a key, or several, a line each. */
export function readPublicKeys(folder: string): string[] {
  // Names that begin with two dots are the kubelet's own.
  const names = readdirSync(folder).filter((name) => !name.startsWith('..'));
  const lines = names.sort().flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

function userData(source: CloudInit, secretFolder: string | undefined): string | Buffer {
  if (source.userData !== undefined) return source.userData;
  if (source.userDataBase64 !== undefined) return decoded(source.userDataBase64, 'userDataBase64') ?? '';
  if (source.secretRef && secretFolder) return fromSecret(secretFolder, source.secretRef.name ?? '');
  return ''; // NoCloud wants the file even when there is nothing to do
}

function decoded(text: string | undefined, field: string): Buffer | undefined {
  if (text === undefined) return undefined;
  const compact = text.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw new UserError('CLOUD_INIT_INVALID', `${field} of cloudInitNoCloud is not base64`);
  return Buffer.from(compact, 'base64');
}

/** Both spellings of the key are in use. */
function fromSecret(folder: string, name: string): Buffer {
  for (const key of ['userdata', 'userData']) {
    try {
      return readFileSync(join(folder, key));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue; // readFileSync throws nothing else
      throw new UserError('CLOUD_INIT_SECRET_INVALID', `key ${key} of Secret ${name} cannot be read`, {
        why: messageOf(error),
        cause: error,
      });
    }
  }
  throw new UserError('CLOUD_INIT_SECRET_INVALID', `Secret ${name} has no cloud-init data`, {
    why: 'it has neither a key userdata nor a key userData',
    fix: `kubectl create secret generic ${name || 'NAME'} --from-file=userdata=FILE`,
  });
}
