/**
 * metrics.k8s.io of the embedded cluster, for `kubectl top` and autoscalers: the difference of two looks at the processes. Nobody looks
 * while nobody asks: the first who asks waits for a second, later ones are told about the time since the look before.
 */
import type { Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { ProcessUsage } from '../../base/node/process-usage.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { AnyObject } from '../../control-plane/apiserver/types/resource-type.ts';
import type { PodUsage } from '../../control-plane/kubelet/pod-usage.ts';

/** What one node uses at a moment; `others` is what it uses besides its Pods. */
export type NodeUsage = { readonly node: string; readonly pods: readonly PodUsage[]; readonly others?: ProcessUsage | undefined };
type Look = { readonly nodes: readonly NodeUsage[]; readonly steadyMs: number };
export type Metrics = { readonly nodes: readonly AnyObject[]; readonly pods: readonly AnyObject[] };

/** A rate over less than this says nothing, one over more than that is not about now. */
const LEAST_MS = 1_000;
const MOST_MS = 60_000;
const API_VERSION = 'metrics.k8s.io/v1beta1';

/** Those who ask at the same time share one look. */
export function createMetrics(look: () => readonly NodeUsage[], clock: Clock): () => Promise<Metrics> {
  let [before, now]: [Look | undefined, Look | undefined] = [undefined, undefined];
  let under: Promise<Metrics> | undefined;
  const again = () => ({ nodes: look(), steadyMs: clock.steady() });

  async function measure(): Promise<Metrics> {
    const ageMs = now ? clock.steady() - now.steadyMs : Number.POSITIVE_INFINITY;
    if (!now || ageMs > MOST_MS) {
      before = again();
      await clock.sleep(LEAST_MS);
      now = again();
    } else if (ageMs >= LEAST_MS) [before, now] = [now, again()];
    return metricsOf(before ?? now, now, clock.now());
  }
  return () => {
    under ??= measure().finally(() => {
      under = undefined;
    });
    return under;
  };
}

/** The objects that follow from two looks. A container that was not there before has its time since then. */
function metricsOf(before: Look, now: Look, nowMs: number): Metrics {
  const seconds = Math.max(now.steadyMs - before.steadyMs, 1) / 1000;
  const moment = { timestamp: timestamp(nowMs), window: `${Number(seconds.toFixed(3))}s` };
  const known = new Map(before.nodes.flatMap(({ pods }) => pods.map(({ pod, containers }) => [pod.metadata.uid, containers] as const)));
  const others = new Map(before.nodes.map((node) => [node.node, node.others]));
  const rated = now.nodes.map(({ node, pods, others: rest }) => ({
    node,
    pods: pods.map(({ pod, containers }) => ({
      pod,
      containers: [...containers].map(([name, used]) => ({ name, usage: rateOf(known.get(pod.metadata.uid)?.get(name), used, seconds) })),
    })),
    rest: rest ? rateOf(others.get(node), rest, seconds) : IDLE,
  }));
  return {
    nodes: rated.map(({ node, pods, rest }) => {
      const all = [rest, ...pods.flatMap(({ containers }) => containers.map(({ usage }) => usage))];
      return { ...named('NodeMetrics', { name: node }), ...moment, usage: texts(sumOf(all)) };
    }),
    pods: rated.flatMap(({ pods }) =>
      pods.map(({ pod, containers }) => {
        const shown = containers.map(({ name, usage }) => ({ name, usage: texts(usage) }));
        return { ...named('PodMetrics', pod.metadata), ...moment, containers: shown };
      }),
    ),
  };
}

type Rate = { readonly cores: number; readonly memoryBytes: number };

const IDLE: Rate = { cores: 0, memoryBytes: 0 };

/** What a container has started and what has ended in between takes its time with it: a rate is never negative. */
function rateOf(before: ProcessUsage | undefined, now: ProcessUsage, seconds: number): Rate {
  const spent = before ? now.cpuSeconds - before.cpuSeconds : 0;
  return { cores: Math.max(0, spent) / seconds, memoryBytes: now.memoryBytes };
}

function sumOf(rates: readonly Rate[]): Rate {
  return rates.reduce((sum, each) => ({ cores: sum.cores + each.cores, memoryBytes: sum.memoryBytes + each.memoryBytes }), IDLE);
}

/** As metrics-server writes them. */
function texts({ cores, memoryBytes }: Rate): { cpu: string; memory: string } {
  return { cpu: `${Math.round(cores * 1e9)}n`, memory: `${Math.ceil(memoryBytes / 1024)}Ki` };
}

function named(kind: string, { name, namespace, labels }: Pod['metadata']): AnyObject {
  return { apiVersion: API_VERSION, kind, metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) } };
}
