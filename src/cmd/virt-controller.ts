/** virt-controller on a cluster: of its replicas the one that holds the Lease works, the others wait. */
import { hostname } from 'node:os';
import { INSTALL_NAMESPACE } from '../api/kubevirt/names.ts';
import { UserError } from '../base/errors.ts';
import { runLeader } from '../client/leader-election.ts';
import { startVirtController } from '../virt-controller/start.ts';
import { runComponent } from './cluster/run-component.ts';

await runComponent({
  name: 'virt-controller',
  flags: { 'launcher-image': '', namespace: INSTALL_NAMESPACE },
  async run({ flags, ready, measure, ...context }) {
    const launcherImage = flags['launcher-image'];
    if (!launcherImage)
      throw new UserError('USAGE', '--launcher-image is not given', { fix: 'name the image of launcher Pods', exitCode: 2 });
    let isLeading = false;
    measure('kubevirt_virt_controller_leading_status', () => Number(isLeading));
    ready(); // to wait for its turn is what a second replica is for
    await runLeader({
      ...context,
      namespace: flags['namespace'] ?? '',
      name: 'virt-controller',
      identity: `${hostname()}_${crypto.randomUUID()}`,
      lead: (signal) => {
        isLeading = true;
        return startVirtController({ ...context, signal, launcherImage });
      },
    });
  },
});
