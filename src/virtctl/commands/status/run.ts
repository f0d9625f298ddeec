/** Whether the embedded cluster runs, and a line per machine. */
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { humanDuration } from '../../../base/duration.ts';
import { isApiError, UserError } from '../../../base/errors.ts';
import { nameOfPod } from '../../../base/node/living-pods.ts';
import { kubeconfigPath } from '../../../client/node/find-kubeconfig.ts';
import type { Deps } from '../../deps.ts';
import { apiUnreachable } from '../../embedded/api-unreachable.ts';
import { logPath } from '../../embedded/paths.ts';
import { restartsOf, times } from '../../embedded/restarts.ts';
import { runningState } from '../../embedded/state.ts';
import { unknownGuests } from '../../embedded/unknown-guests.ts';

/** So often it was started again, and then no more: something ends it each time. */
const GIVEN_UP = 5;

export async function run({ home, clock, stdout: out, connect }: Deps): Promise<void> {
  const state = runningState(home);
  const restarts = restartsOf(home);
  if (!state) {
    const why = restarts && `it ended unexpectedly (${restarts.because}) and was started again ${times(restarts.count)}: ${logPath(home)}`;
    const fix =
      restarts && restarts.count >= GIVEN_UP
        ? 'virtctl up, or virtctl up --without-controllers to delete the object that ends it'
        : 'virtctl up';
    throw new UserError('NOT_RUNNING', `no embedded cluster runs with the data folder ${home}`, { why, fix, exitCode: 3 });
  }
  out.write(
    `cluster     running for ${humanDuration(clock.now() - Date.parse(state.startedAt))}, process ${state.process.pid}, https://127.0.0.1:${state.port}\n`,
  );
  if (state.isWithoutControllers) out.write('controllers none: it serves the API alone; virtctl up starts the whole cluster\n');
  if (restarts) {
    const age = humanDuration(clock.now() - Date.parse(restarts.lastAt));
    out.write(`restarts    ${restarts.count}, the last ${age} ago: ${restarts.because}\n`);
  }
  out.write(`data        ${home}\n`);
  out.write(`kubeconfig  ${kubeconfigPath(home)}\n`);
  const { client } = await connect({ kubeconfig: kubeconfigPath(home) });
  const { items } = await client.list(VMS).catch((error: unknown) => {
    throw isApiError(error, 'ServiceUnavailable') ? apiUnreachable(state.process, { next: 'virtctl up', cause: error }) : error;
  });
  out.write(`machines    ${items.length === 0 ? 'none' : ''}\n`);
  for (const vm of items) {
    out.write(`  ${`${vm.metadata.namespace}/${vm.metadata.name}`.padEnd(40)} ${vm.status?.printableStatus ?? 'Stopped'}\n`);
  }
  for (const guest of unknownGuests(home))
    out.write(`unknown     ${nameOfPod(guest)} runs outside of the cluster; virtctl down shuts it down\n`);
}
