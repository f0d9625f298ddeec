/** Reads what Pods use from metrics.k8s.io. */
import { messageOf } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { Client } from '../../../client/client.ts';
import type { PodUsage } from './observed.ts';

type PodMetrics = {
  readonly metadata: { readonly name: string };
  readonly timestamp: string;
  readonly window: string;
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
};

/** By the name of the Pod; or why nobody knows. */
export async function readUsages(
  client: Client,
  { namespace, selector }: { readonly namespace: string; readonly selector: string },
): Promise<ReadonlyMap<string, PodUsage> | { readonly error: string }> {
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
  try {
    const { items } = (await (await client.request(path)).json()) as { readonly items: readonly PodMetrics[] };
    return new Map(items.map((each) => [each.metadata.name, usageFrom(each)]));
  } catch (error) {
    return { error: messageOf(error) };
  }
}

function usageFrom({ timestamp, window, containers }: PodMetrics): PodUsage {
  const numbers = (usage: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(usage).map(([name, text]) => [name, parseQuantity(text) ?? 0]));
  return {
    takenAtMs: Date.parse(timestamp),
    windowMs: Number.parseFloat(window) * 1000, // our own server writes seconds
    containers: new Map(containers.map(({ name, usage }) => [name, numbers(usage)])),
  };
}
