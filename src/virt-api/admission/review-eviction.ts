/**
 * Whether the launcher Pod of a machine may be evicted, as `kubectl drain` asks for it. By the strategy of the machine, which is that of the
 * installation where it names none:
 *
 *   None, or none        yes: its run strategy decides what follows
 *   LiveMigrateIfPossible  yes where it cannot be moved; else as LiveMigrate
 *   LiveMigrate          no; where it can be moved, status.evacuationNodeName lets virt-controller move it
 *   External             no, and status.evacuationNodeName tells whoever looks after it from where it has to go
 *
 * A Pod that attaches a volume to a machine stays until that is gone.
 */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { type EvictionStrategy, evictionStrategyOf } from '../../api/kubevirt/draining.ts';
import { isMoving } from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { currentLauncherNameOf, launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { isDeleting, keyOf } from '../../api/meta.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import type { AdmissionRequest } from './admission-request.ts';

type World = { readonly client: Client; readonly configuration: ClusterConfiguration };
type Verdict = { readonly refusal?: string; readonly mark?: string };

/** The answer to the question whether a Pod may be evicted. Pods of others are none of our business. */
export async function reviewEviction({ object, isDryRun }: AdmissionRequest, { client, configuration }: World): Promise<JsonObject> {
  const { name = '', namespace = '' } = object?.metadata ?? {};
  if (!namespace) return { allowed: true }; // the API server always says it: nobody else has us look through all namespaces
  const { items } = await client.list(VMIS, { namespace });
  const coming = items.find((each) => isMoving(each.status?.migrationState) && targetNameOf(each) === name);
  if (coming) return refused(`VMI ${keyOf(coming.metadata)} is being moved to this Pod; try again when it is there`);
  const attached = items.find(
    (each) => !isFinal(each) && each.status?.volumeStatus?.some((entry) => entry.hotplugVolume?.attachPodName === name),
  );
  if (attached) return refused(`Pod ${name} attaches a volume to VMI ${keyOf(attached.metadata)}, and goes with it`);
  const vmi = items.find((each) => currentLauncherNameOf(each) === name);
  const { refusal, mark } = vmi ? decideEviction(vmi, evictionStrategyOf(vmi, configuration)) : {};
  if (vmi && mark !== undefined && !isDryRun)
    await client.patch(VMIS, { namespace, name: vmi.metadata.name }, { status: { evacuationNodeName: mark } });
  return refusal === undefined ? { allowed: true } : refused(refusal);
}

function refused(message: string): JsonObject {
  return { allowed: false, status: { status: 'Failure', code: 429, reason: 'TooManyRequests', message } };
}

/** The Pod to which an instance is being moved. */
function targetNameOf(vmi: VirtualMachineInstance): string {
  return launcherPodNameOf(vmi, vmi.status?.migrationState?.migrationUid ?? '');
}

function decideEviction(vmi: VirtualMachineInstance, strategy: EvictionStrategy): Verdict {
  const { status = {} } = vmi;
  const { nodeName, evacuationNodeName } = status;
  if (isFinal(vmi) || isDeleting(vmi)) return {};
  const key = keyOf(vmi.metadata);
  const isMovable = vmiIs(vmi, 'LiveMigratable');
  switch (strategy) {
    case 'None':
      return {};
    case 'LiveMigrateIfPossible':
      return isMovable ? evacuation('it is moved to another node') : {};
    case 'LiveMigrate':
      if (isMovable) return evacuation('it is moved to another node');
      return { refusal: `VMI ${key} is configured with an eviction strategy but is not live-migratable; stop it, or set None` };
    case 'External':
      return evacuation('whoever looks after it has to move or stop it');
  }

  function evacuation(what: string): Verdict {
    const refusal = `Eviction triggered evacuation of VMI ${key}: ${what}`;
    if (evacuationNodeName) return { refusal: `Evacuation in progress: ${refusal}` };
    return { refusal, ...(nodeName && { mark: nodeName }) };
  }
}
