/** Every kind of ours: a new kind is a new line here, and `npm run generate` does what follows from its record. */
import { KUBEVIRTS } from './kinds/kubevirt.ts';
import { OFFLINE_VMS } from './kinds/offline-virtual-machine.ts';
import { VMIRSS } from './kinds/replica-set.ts';
import { VMS } from './kinds/virtual-machine.ts';
import { VMIS } from './kinds/virtual-machine-instance.ts';
import { VMI_CONFIGS } from './kinds/vmi-config.ts';

export const KINDS = [VMS, VMIS, VMIRSS, OFFLINE_VMS, VMI_CONFIGS, KUBEVIRTS] as const;

export type KindName = (typeof KINDS)[number]['kind'];
