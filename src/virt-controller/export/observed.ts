/** What `decide` looks at: one export, what it is of, and what was made for it. */
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { ExportState, ExportTask } from '../../api/exporter/exporter.ts';
import type { VmExportConditions } from '../../api/kubevirt/condition-reasons.ts';
import type { VirtualMachineExport } from '../../api/kubevirt/kinds/vm-export.ts';

/** One disk: as links call it, and the PVC that has it. */
export type ExportedVolume = {
  readonly name: string;
  readonly claimName: string;
  readonly claim?: PersistentVolumeClaim | undefined;
  /** The PVC to make when it is not there: that of a snapshot, for the time of the export. */
  readonly made?: PersistentVolumeClaim | undefined;
};

export type Waiting = { readonly reason: VmExportConditions['Ready']; readonly message: string };

/** What is to be served, or what has to come first. */
export type ExportSource = {
  readonly volumes: readonly ExportedVolume[];
  readonly waiting?: Waiting | undefined;
  readonly machine?: ExportTask['machine'] | undefined;
};

/** Everything that is known of one export when the controller looks at it. */
export type ObservedVmExport = {
  readonly export: VirtualMachineExport;
  readonly source: ExportSource;
  /** Of the name that its own would have, whoever made them. */
  readonly pod?: Pod | undefined;
  readonly service?: Service | undefined;
  /** As its Pod says; undefined when it says nothing. */
  readonly state?: ExportState | undefined;
  /** Who stands outside gets to the proxy there. */
  readonly external?: { readonly url: string; readonly cert: string } | undefined;
  readonly image: string;
  /** For a Secret that is to be made. */
  readonly fresh?: { readonly token: string; readonly suffix: string } | undefined;
  readonly now: number;
};
