/** The machine that a file becomes: with the names of its new disks, and not running. Pure. */
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { apiVersionOf } from '../../api/resource.ts';
import type { KeptMachine } from './machine-file.ts';

type Options = {
  readonly namespace: string;
  /** Undefined: that of the file. */
  readonly name: string | undefined;
  /** The new name of each disk. */
  readonly disks: ReadonlyMap<string, string>;
};

/** A machine of another name is another machine: its addresses and identifiers are made anew. */
export function importedMachine({ machine }: KeptMachine, { namespace, name, disks }: Options): VirtualMachine {
  const { labels, annotations } = machine.metadata;
  const { running: _, dataVolumeTemplates: __, ...spec } = machine.spec;
  const { spec: guest } = spec.template;
  const volumes = guest.volumes?.map((volume) => {
    const renamed = disks.get(volume.dataVolume?.name ?? '');
    return volume.dataVolume && renamed !== undefined ? { ...volume, dataVolume: { ...volume.dataVolume, name: renamed } } : volume;
  });
  const template = { ...spec.template, spec: { ...(name === undefined ? guest : anotherGuest(guest)), ...(volumes && { volumes }) } };
  return {
    apiVersion: apiVersionOf(VMS),
    kind: 'VirtualMachine',
    metadata: { namespace, name: name ?? machine.metadata.name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { ...spec, runStrategy: 'Halted', template },
  };
}

function anotherGuest(guest: VirtualMachine['spec']['template']['spec']): typeof guest {
  const { domain } = guest;
  const { firmware, devices } = domain;
  const { uuid: _, serial: __, ...otherFirmware } = firmware ?? {};
  const interfaces = devices?.interfaces?.map(({ macAddress: ___, ...each }) => each);
  return {
    ...guest,
    domain: { ...domain, ...(firmware && { firmware: otherFirmware }), devices: { ...devices, ...(interfaces && { interfaces }) } },
  };
}
