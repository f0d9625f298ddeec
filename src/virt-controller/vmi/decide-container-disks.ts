/**
 * How the images of containerDisks come into launcher Pods. First match wins.
 *
 *   container      the API server is older than 1.35, where image volumes are switched off unless asked for
 *   container      the runtime of a node cannot mount an image: containerd below 2.1, CRI-O below 1.31, one that we do not know
 *   image-volume   otherwise
 */
import type { Node } from '../../api/core/node.ts';
import type { ContainerDiskWay } from './launcher-volumes.ts';

type Choice = { readonly way: ContainerDiskWay; readonly because: string };
type Version = readonly [major: number, minor: number];

const SERVER: Version = [1, 35];
const RUNTIMES: Readonly<Record<string, Version>> = { containerd: [2, 1], 'cri-o': [1, 31] };

/** The way that works on every node of the cluster. */
export function decideContainerDisks({ gitVersion, nodes }: { gitVersion: string; nodes: readonly Node[] }): Choice {
  if (!isAtLeast(gitVersion, SERVER)) return { way: 'container', because: `Kubernetes ${gitVersion} has no image volumes` };
  const unfit = nodes.find((node) => !canMountImages(runtimeOf(node)));
  if (unfit) return { way: 'container', because: `node ${unfit.metadata.name} runs ${runtimeOf(unfit)}, which has no image volumes` };
  return { way: 'image-volume', because: 'every node has image volumes' };
}

function runtimeOf(node: Node): string {
  const { status } = node as { status?: { nodeInfo?: { containerRuntimeVersion?: string } } };
  return status?.nodeInfo?.containerRuntimeVersion ?? 'an unknown runtime';
}

/** As a kubelet reports it: `containerd://2.1.4`. */
function canMountImages(runtime: string): boolean {
  const [name = '', version = ''] = runtime.split('://');
  const least = RUNTIMES[name];
  return least !== undefined && isAtLeast(version, least);
}

function isAtLeast(text: string, [major, minor]: Version): boolean {
  const [, a, b] = /^v?(\d+)\.(\d+)/.exec(text) ?? [];
  return Number(a) > major || (Number(a) === major && Number(b) >= minor);
}
