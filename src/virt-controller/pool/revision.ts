/** What the template of a pool was: a ControllerRevision that machines name by a label. Pure. */
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../../api/core/controller-revision.ts';
import type { VirtualMachinePool } from '../../api/kubevirt/kinds/pool.ts';
import { LABEL_VM_REVISION } from '../../api/kubevirt/names.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { deepEqual, isObject } from '../../base/json.ts';

export const LABEL_POOL_REVISION = 'kubevirt.io/vm-pool-revision-name';

/** The revision of the template as it is now: one that is there, or a new one. A pool that was only scaled has no new one. */
export function currentRevision(pool: VirtualMachinePool, revisions: readonly ControllerRevision[]): ControllerRevision {
  return revisions.find(({ data }) => isObject(data) && deepEqual(data['spec'], dataOf(pool))) ?? revisionFor(pool);
}

function revisionFor(pool: VirtualMachinePool): ControllerRevision {
  const { name, namespace, generation = 1 } = pool.metadata;
  return {
    apiVersion: apiVersionOf(CONTROLLER_REVISIONS),
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${generation}`,
      namespace,
      labels: { [LABEL_VM_REVISION]: '' },
      ownerReferences: [controllerReferenceTo(pool)],
    },
    revision: generation,
    data: { spec: dataOf(pool) },
  };
}

/** All that a machine follows from. */
function dataOf({ spec: { virtualMachineTemplate, nameGeneration } }: VirtualMachinePool): object {
  return { virtualMachineTemplate, ...(nameGeneration && { nameGeneration }) };
}
