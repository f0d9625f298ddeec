/** The VirtualMachine that an OfflineVirtualMachine describes. */
import type { OfflineVirtualMachine } from '../../api/kubevirt/kinds/offline-virtual-machine.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { firmwareOf } from '../vm/vmi-for.ts';

/** A running machine of the same name and template, with the firmware UUID and serial number that the OVM holds for all of them. */
export function vmFor(ovm: OfflineVirtualMachine): VirtualMachine {
  const { template } = ovm.spec;
  const { domain } = template.spec;
  const firmware = firmwareOf(ovm, domain.firmware);
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name: ovm.metadata.name,
      namespace: ovm.metadata.namespace,
      labels: { ...template.metadata?.labels },
      ownerReferences: [controllerReferenceTo(ovm)],
    },
    spec: { running: true, template: { ...template, spec: { ...template.spec, domain: { ...domain, firmware } } } },
  };
}
