/**
 * Whether the launcher Pod of a machine may be evicted, as `kubectl drain` asks for it. By the strategy of the machine, which is that of the
 * installation where it names none:
 *
 *   None, or none        yes: its run strategy decides what follows
 *   LiveMigrateIfPossible  yes: it cannot be moved
 *   LiveMigrate          no, as for every machine that cannot be moved
 *   External             no, and status.evacuationNodeName tells whoever looks after it from where it has to go
 */
import { isFinal, type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import { isDeleting, keyOf } from '../../api/meta.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import type { AdmissionRequest } from './admission-request.ts';

type Verdict = { readonly refusal?: string; readonly mark?: string };

/** The answer to the question whether a Pod may be evicted. Pods of others are none of our business. */
export async function reviewEviction({ object, isDryRun }: AdmissionRequest, client: Client): Promise<JsonObject> {
  const { name = '', namespace = '' } = object?.metadata ?? {};
  const { items } = await client.list(VMIS, { namespace });
  const vmi = items.find((each) => currentLauncherNameOf(each) === name);
  const { refusal, mark } = vmi ? decideEviction(vmi) : {};
  if (vmi && mark !== undefined && !isDryRun)
    await client.patch(VMIS, { namespace, name: vmi.metadata.name }, { status: { evacuationNodeName: mark } });
  if (refusal === undefined) return { allowed: true };
  return { allowed: false, status: { status: 'Failure', code: 429, reason: 'TooManyRequests', message: refusal } };
}

function decideEviction(vmi: VirtualMachineInstance): Verdict {
  const { spec, status = {} } = vmi;
  const { nodeName, evacuationNodeName } = status;
  if (isFinal(vmi) || isDeleting(vmi)) return {};
  const key = keyOf(vmi.metadata);
  switch (spec.evictionStrategy) {
    case undefined:
    case 'None':
    case 'LiveMigrateIfPossible':
      return {};
    case 'LiveMigrate':
      return { refusal: `VMI ${key} is configured with an eviction strategy but is not live-migratable; stop it, or set None` };
    case 'External': {
      const refusal = `Eviction triggered evacuation of VMI ${key}: whoever looks after it has to move or stop it`;
      if (evacuationNodeName) return { refusal: `Evacuation in progress: ${refusal}` };
      return { refusal, ...(nodeName && { mark: nodeName }) };
    }
  }
}
