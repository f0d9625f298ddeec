/**
 * The labels of machines as labels of a family, by the names that KubeVirt publishes. Which of them are shown an administrator says in a ConfigMap of the
 * installation, by two lists with commas; without it all are.
 */
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import type { Clock } from '../../base/clock.ts';
import type { MetricFamily, MetricSample } from '../../base/metrics.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';

type ShownLabels = { readonly allowed: ReadonlySet<string>; readonly ignored: ReadonlySet<string> };
type Options = { readonly client: Client; readonly clock: Clock; readonly vms: Cache<VirtualMachine> };

const CONFIGURATION = { namespace: INSTALL_NAMESPACE, name: 'kubevirt-vm-labels-config' };
const ALL = '*';
/** Who may label a machine decides how many names there are: no more of one machine. */
const MOST_LABELS = 32;
/** A change of the lists is seen by a scrape after this. */
const REMEMBERED_MS = 60_000;
/** A cluster that does not answer must not hold up a scrape. */
const PATIENCE_MS = 2_000;
const NONE: ShownLabels = { allowed: new Set(), ignored: new Set() };

/** Its lists are read when somebody looks, and once a minute at the most; while they cannot be read the last ones hold, and before any nothing is shown. */
export function vmLabelsFamily({ client, clock, vms }: Options): MetricFamily {
  let known: ShownLabels = NONE;
  let readAtMs = Number.NEGATIVE_INFINITY;
  const look = async () => {
    if (clock.steady() - readAtMs < REMEMBERED_MS) return;
    readAtMs = clock.steady();
    known = await readShown(client).catch(() => known); // a scrape must not fail for it
  };
  return {
    name: 'kubevirt_vm_labels',
    help: 'The labels of machines; which of them says the ConfigMap kubevirt-vm-labels-config.',
    type: 'gauge',
    async samples() {
      await look();
      return vms.list().flatMap((vm) => labelsOf(vm, known));
    },
  };
}

/** Nothing for a machine without a label that is shown. */
function labelsOf({ metadata: { namespace = '', name, labels = {} } }: VirtualMachine, shown: ShownLabels): MetricSample[] {
  const isShown = (key: string) => !shown.ignored.has(key) && (shown.allowed.has(ALL) || shown.allowed.has(key));
  const own = Object.entries(labels).filter(([key]) => isShown(key));
  if (own.length === 0) return [];
  const named = own.slice(0, MOST_LABELS).map(([key, value]) => [`label_${key.replaceAll(/\W/g, '_').replace(/^\d/, '_$&')}`, value]);
  return [{ labels: { ...Object.fromEntries(named), namespace, name }, value: 1 }];
}

/** All of them where nobody says which. */
async function readShown(client: Client): Promise<ShownLabels> {
  const { data = {} } = (await client.get(CONFIG_MAPS, CONFIGURATION, { signal: timeoutSignal(PATIENCE_MS) })) ?? {};
  return { allowed: listIn(data['allowlist'] ?? ALL), ignored: listIn(data['ignorelist'] ?? '') };
}

function listIn(text: string): ReadonlySet<string> {
  return new Set(
    text
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean),
  );
}
