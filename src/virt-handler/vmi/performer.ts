/** What the commands to a guest work with. */
import type { Clock } from '../../base/clock.ts';
import type { QmpClient } from '../../qemu/qmp/client.ts';
import type { BackupWay, CommandProgress, DumpWay, OpenStore, OpenWay, Quiesce, RunInGuest } from './domain-command.ts';

export type Performer = {
  readonly qmp: Pick<QmpClient, 'execute'>;
  readonly clock: Clock;
  /** Aborted when QEMU next tells how far a move or a copy is; not there where nobody listens to it. */
  readonly news?: () => AbortSignal;
  /** Opens the way to the node that a guest is sent to. */
  readonly openWay: OpenWay;
  /** Opens the way to the Pod that writes the memory of the guest. */
  readonly openStore: OpenStore;
  /** The way to the Pod that writes a dump of the guest. */
  readonly dumps: DumpWay;
  /** The way to the Pod that writes a backup of its disks; not there where none are made. */
  readonly backups?: BackupWay;
  /** Not there where nobody listens to the agent of the guest. */
  readonly runInGuest?: RunInGuest;
  readonly quiesce?: Quiesce;
  /** For a command that takes long: shows in the domain how far it is. */
  readonly report: (progress: CommandProgress) => void;
};
