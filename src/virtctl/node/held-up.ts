/** What keeps a Pod on a node that is to be empty: a machine that is being moved, and how far it is, or a budget. */
import type { Pod } from '../../api/core/pod.ts';
import { isMoving } from '../../api/kubevirt/kinds/migration.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_DOMAIN, LABEL_COMPONENT } from '../../api/kubevirt/names.ts';
import { LAUNCHER_PROGRAM } from '../../api/launcher/compute.ts';
import type { Client } from '../../client/client.ts';
import { moveProgressOf } from '../move-progress.ts';

export async function heldUpBy(client: Client, { metadata: { namespace, labels, annotations } }: Pod): Promise<string> {
  const name = labels?.[LABEL_COMPONENT] === LAUNCHER_PROGRAM ? annotations?.[ANNOTATION_DOMAIN] : undefined;
  const vmi = name === undefined ? undefined : await client.get(VMIS, { namespace, name });
  if (!vmi?.status?.evacuationNodeName) return 'held up by a budget';
  const { migrationState: state } = vmi.status;
  if (!state || !isMoving(state)) return 'waits to be moved';
  return `moves to ${state.targetNode}${state.progress ? ` ${moveProgressOf(state.progress)}` : ''}`;
}
