/** Waits for a machine that does not run yet. */
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import type { Connection } from '../deps.ts';

/** Resolves when it runs. */
export async function untilRunning({ client, namespace }: Connection, name: string, timeoutMinutes: number): Promise<void> {
  if (!(await client.get(VMS, { namespace, name })) && !(await client.get(VMIS, { namespace, name }))) {
    throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
  }
  const signal = AbortSignal.timeout(timeoutMinutes * 60_000);
  for await (const event of client.watch(VMIS, { namespace, fieldSelector: `metadata.name=${name}`, signal })) {
    if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && event.object.status?.phase === 'Running') return;
  }
  throw new UserError('VM_NOT_RUNNING', `${namespace}/${name} did not run within ${timeoutMinutes} min`, {
    fix: `virtctl start ${name}, or virtctl why ${name}`,
    exitCode: 5,
  });
}
