/** The cloud-init disk: a small ISO, laid out as NoCloud (label cidata) or as a config drive of OpenStack (label config-2) has it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { hostnameOf } from '../api/kubevirt/hostname.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { taggedDevices } from '../qemu/convert/device-tags.ts';
import { machineUuid } from '../qemu/convert/machine.ts';
import { createIso } from './iso9660.ts';

type Vmi = Pick<VirtualMachineInstance, 'metadata' | 'spec'>;
type CloudInit = NonNullable<Volume['cloudInitNoCloud']>;

type IsoOptions = {
  readonly vmi: Vmi;
  readonly layout: CloudInitLayout;
  readonly source: CloudInit;
  /** Where the Secret of a secretRef is mounted. */
  readonly secretFolder?: string | undefined;
  /** Where the Secret of a networkDataSecretRef is mounted. */
  readonly networkFolder?: string | undefined;
  /** For the default user of the guest. */
  readonly publicKeys?: readonly string[];
};
export type CloudInitLayout = keyof typeof LAYOUTS;

const LAYOUTS = {
  noCloud: { label: 'cidata', metaData: 'meta-data', userData: 'user-data', networkData: 'network-config', describe: metaData },
  configDrive: {
    label: 'config-2',
    metaData: 'openstack/latest/meta_data.json',
    userData: 'openstack/latest/user_data',
    networkData: 'openstack/latest/network_data.json',
    describe: openstackMetaData,
  },
} as const;
/** Both spellings of each key are in use. */
const SECRET_KEYS = { user: ['userdata', 'userData'], network: ['networkdata', 'networkData'] } as const;

/** The bytes of the disk. */
export function cloudInitIso({ vmi, layout, source, secretFolder, networkFolder, publicKeys = [] }: IsoOptions): Buffer {
  const { label, describe, ...paths } = LAYOUTS[layout];
  const userData = dataOf('user', { text: source.userData, base64: source.userDataBase64, secret: source.secretRef, folder: secretFolder });
  const networkData = dataOf('network', {
    text: source.networkData,
    base64: source.networkDataBase64,
    secret: source.networkDataSecretRef,
    folder: networkFolder,
  });
  return createIso(label, {
    [paths.metaData]: `${JSON.stringify(describe(vmi, publicKeys))}\n`,
    [paths.userData]: userData ?? '', // wanted even when there is nothing to do
    ...(networkData !== undefined && { [paths.networkData]: networkData }),
  });
}

/** The instance id is the machine's, so that cloud-init does its first-boot work once in the life of a machine, not at every start. */
function metaData(vmi: Vmi, publicKeys: readonly string[]): object {
  return {
    'instance-id': machineUuid(vmi) ?? idByName(vmi),
    'local-hostname': hostnameOf(vmi),
    ...(publicKeys.length > 0 && { 'public-keys': numbered(publicKeys) }),
  };
}

/** Here cloud-init takes the uuid for the id of the instance, and refuses the drive without one. */
function openstackMetaData(vmi: Vmi, publicKeys: readonly string[]): object {
  const devices = taggedDevices(vmi);
  return {
    instance_id: `${vmi.metadata.name}.${vmi.metadata.namespace ?? 'default'}`,
    uuid: machineUuid(vmi) ?? idByName(vmi),
    hostname: hostnameOf(vmi),
    ...(publicKeys.length > 0 && { public_keys: numbered(publicKeys) }),
    ...(devices.length > 0 && { devices }),
  };
}

function idByName(vmi: Vmi): string {
  return `${hostnameOf(vmi)}.${vmi.metadata.namespace ?? 'default'}`;
}

function numbered(keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key, index) => [String(index), key]));
}

/** Every value of a mounted Secret is a key, or several, a line each. */
export function readPublicKeys(folder: string): string[] {
  // Names that begin with two dots are the kubelet's own.
  const names = readdirSync(folder).filter((name) => !name.startsWith('..'));
  const lines = names.sort().flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

type Given = {
  readonly text: string | undefined;
  readonly base64: string | undefined;
  readonly secret: { readonly name?: string } | undefined;
  readonly folder: string | undefined;
};

function dataOf(kind: keyof typeof SECRET_KEYS, { text, base64, secret, folder }: Given): string | Buffer | undefined {
  if (text !== undefined) return text;
  if (base64 !== undefined) return decoded(base64, `${kind}DataBase64`);
  return secret && folder ? fromSecret(folder, secret.name ?? '', SECRET_KEYS[kind]) : undefined;
}

function decoded(text: string, field: string): Buffer {
  const compact = text.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw new UserError('CLOUD_INIT_INVALID', `${field} of cloud-init is not base64`);
  return Buffer.from(compact, 'base64');
}

function fromSecret(folder: string, name: string, keys: readonly [string, string]): Buffer {
  for (const key of keys) {
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
    why: `it has neither a key ${keys.join(' nor a key ')}`,
    fix: `kubectl create secret generic ${name || 'NAME'} --from-file=${keys[0]}=FILE`,
  });
}
