/** The Pods that write something of a guest to a PVC, on its node: how one is made, and what is seen of it. Pure. */
import type { Pod } from '../../api/core/pod.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Mount } from '../../api/launcher/mounts.ts';
import { conditionOf } from '../../api/meta.ts';
import { besideLauncher } from './attachment-pod.ts';
import type { LauncherOptions } from './launcher-pod.ts';
import { WRITER_RESOURCES, withClaim } from './save-pod.ts';

const PATIENCE_MS = 120_000;

type Writer = {
  readonly launcher: Pod;
  readonly options: LauncherOptions;
  readonly name: string;
  readonly generateName: string;
  readonly container: string;
  /** What virt-launcher is told to do. */
  readonly command: string;
  readonly claimName: string;
  readonly mount: Mount;
};

/** It goes with the launcher Pod, which owns it. */
export function writerPodFor(vmi: VirtualMachineInstance, writer: Writer): Pod {
  const { launcher, options, name, generateName, container, command, claimName, mount } = writer;
  const pod = besideLauncher(vmi, {
    ...{ launcher, options, name, generateName },
    spec: { domain: { devices: { disks: [], interfaces: [], autoattachPodInterface: false } } },
    program: { name: container, args: [command], resources: WRITER_RESOURCES },
  });
  return { ...pod, spec: withClaim(pod.spec, { container, claimName, mount }) };
}

/** Its program runs: it listens, or is about to. */
export function isWriting(pod: Pod, container: string): boolean {
  return stateOf(pod, container)?.running !== undefined;
}

/** When it is too late for it to begin. */
export function writerDeadlineOf({ metadata: { creationTimestamp } }: Pod, now: number): number {
  return (Date.parse(creationTimestamp ?? '') || now) + PATIENCE_MS;
}

/** In its own words, if it had any. */
export function whyWriterEnded(pod: Pod, container: string): string {
  const end = stateOf(pod, container)?.terminated;
  const why = end?.message?.trim().slice(-500) || pod.status?.reason || `exit code ${end?.exitCode ?? 'unknown'}`;
  return `the Pod that writes it ended: ${why}`;
}

/** In the words of the scheduler or the kubelet. */
export function whyWriterNotReady(pod: Pod, container: string): string {
  const placed = conditionOf(pod.status?.conditions, 'PodScheduled');
  const waiting = stateOf(pod, container)?.waiting;
  const why = placed?.status === 'False' ? placed.message : (waiting?.message ?? waiting?.reason);
  return `the Pod that writes it is not ready after ${PATIENCE_MS / 1000} s${why ? `: ${why}` : ''}`;
}

function stateOf({ status }: Pod, container: string) {
  return status?.containerStatuses?.find(({ name }) => name === container)?.state;
}
