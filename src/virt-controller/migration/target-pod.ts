/** The Pod that a guest is moved to: that of its start, on another node, waiting instead of booting. Pure. */
import type { Pod } from '../../api/core/pod.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import {
  ANNOTATION_MIGRATION_JOB,
  LABEL_CREATED_BY,
  LABEL_MIGRATION_JOB,
  LABEL_MIGRATION_TARGET_NODE,
  LABEL_NODE_NAME,
} from '../../api/kubevirt/names.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { isObject } from '../../base/json.ts';
import { type LauncherOptions, launcherPodFor } from '../vmi/launcher-pod.ts';

/** Its name follows from both uids: a migration has one. */
export function targetPodFor(vmi: VirtualMachineInstance, migration: VirtualMachineInstanceMigration, options: LauncherOptions): Pod {
  const { uid = '', name } = migration.metadata;
  const pod = launcherPodFor(vmi, options);
  const { [LABEL_NODE_NAME]: _node, [LABEL_MIGRATION_TARGET_NODE]: _target, ...labels } = pod.metadata.labels ?? {};
  const incoming = { name: LAUNCHER_VARIABLES.incoming, value: uid };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: launcherPodNameOf(vmi, uid),
      labels: { ...labels, [LABEL_MIGRATION_JOB]: uid },
      annotations: { ...pod.metadata.annotations, [ANNOTATION_MIGRATION_JOB]: name },
    },
    spec: {
      ...pod.spec,
      // What the machine asks for itself wins.
      nodeSelector: { ...migration.spec.addedNodeSelector, ...pod.spec.nodeSelector },
      affinity: apart(pod.spec.affinity, vmi.metadata.uid ?? ''),
      containers: pod.spec.containers.map((each) =>
        each.name === COMPUTE_CONTAINER ? { ...each, env: [...(each.env ?? []), incoming] } : each,
      ),
    },
  };
}

/** Beside what the machine asks for: not on the node of another Pod of this instance. */
function apart(affinity: unknown, uid: string): object {
  const given = isObject(affinity) ? affinity : {};
  const away = isObject(given['podAntiAffinity']) ? given['podAntiAffinity'] : {};
  const field = 'requiredDuringSchedulingIgnoredDuringExecution';
  const required = Array.isArray(away[field]) ? away[field] : [];
  const term = { labelSelector: { matchLabels: { [LABEL_CREATED_BY]: uid } }, topologyKey: 'kubernetes.io/hostname' };
  return { ...given, podAntiAffinity: { ...away, [field]: [...required, term] } };
}
