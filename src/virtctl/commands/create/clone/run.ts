/** Writes the manifest of a clone; nothing is created. */
import { stringify } from 'yaml';
import { UserError } from '../../../../base/errors.ts';
import { randomName } from '../../../create/random-name.ts';
import type { Deps } from '../../../deps.ts';

type Flags = {
  readonly name?: string;
  readonly sourceName: string;
  readonly sourceType?: string;
  readonly targetName?: string;
  readonly labelFilter?: readonly string[];
  readonly annotationFilter?: readonly string[];
  readonly templateLabelFilter?: readonly string[];
  readonly templateAnnotationFilter?: readonly string[];
  readonly newMacAddress?: readonly string[];
  readonly newSmbiosSerial?: string;
};

/** As KubeVirt's virtctl takes them. */
const TYPES: Readonly<Record<string, object>> = {
  vm: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine' },
  snapshot: { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot' },
};

export function run({ stdout }: Deps, flags: Flags): void {
  const { name = randomName('clone'), sourceName, sourceType = 'vm', targetName, newSmbiosSerial } = flags;
  const type = TYPES[sourceType];
  if (!type) throw new UserError('USAGE', `--source-type ${sourceType} is not known`, { fix: 'say vm or snapshot', exitCode: 2 });
  const template = filters(flags.templateLabelFilter, flags.templateAnnotationFilter);
  const manifest = {
    apiVersion: 'clone.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClone',
    metadata: { name },
    spec: {
      source: { ...type, name: sourceName },
      ...(targetName && { target: { ...TYPES['vm'], name: targetName } }),
      ...filters(flags.labelFilter, flags.annotationFilter),
      ...(Object.keys(template).length > 0 && { template }),
      ...(flags.newMacAddress?.length && { newMacAddresses: Object.fromEntries(flags.newMacAddress.map(macOf)) }),
      ...(newSmbiosSerial && { newSMBiosSerial: newSmbiosSerial }),
    },
  };
  stdout.write(stringify(manifest, { lineWidth: 0 }));
}

function filters(labelFilters: readonly string[] = [], annotationFilters: readonly string[] = []): object {
  return { ...(labelFilters.length > 0 && { labelFilters }), ...(annotationFilters.length > 0 && { annotationFilters }) };
}

function macOf(said: string): [name: string, address: string] {
  const at = said.indexOf(':');
  if (at > 0) return [said.slice(0, at), said.slice(at + 1)];
  throw new UserError('USAGE', `--new-mac-address ${said} names no interface`, { fix: 'write default:02:00:00:12:34:56', exitCode: 2 });
}
