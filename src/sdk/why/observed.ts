/** Everything that an answer to "why?" is made from. */
import type { Event } from '../../api/core/event.ts';
import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

export type Observed = {
  readonly now: number;
  readonly name: string;
  readonly vm?: VirtualMachine;
  readonly vmi?: VirtualMachineInstance;
  /** The launcher Pod that matters: the newest that has not ended, else the newest. */
  readonly pod?: Pod;
  /** Undefined when we may not see them. */
  readonly nodes?: readonly Node[];
  /** The claims that its volumes name, and what was found under each name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim | undefined>;
  /** Of the machine, its instance and its Pod; newest last. */
  readonly events: readonly Event[];
  /** Of instances of this name that are gone; newest last. */
  readonly pastEvents?: readonly Event[];
};

export type Answer = {
  /** Something keeps the machine from doing what it should. */
  readonly isBlocked: boolean;
  /** One sentence. */
  readonly what: string;
  readonly evidence: readonly string[];
  readonly fix?: string;
};
