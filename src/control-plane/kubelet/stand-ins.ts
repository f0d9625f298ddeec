/** An image that stands in for one that cannot be had: whether it is there, and what is told of it. */
import type { Pod } from '../../api/core/pod.ts';
import { standInFor } from '../../api/kubevirt/stand-ins.ts';
import type { ImageSource } from './image-source.ts';
import type { KubeletContext } from './kubelet-context.ts';

/** True when the image, or what stands in for it, can be used now. */
export function hasImageOrStandIn(images: Pick<ImageSource, 'resolve'>, reference: string): boolean {
  return images.resolve(reference) !== undefined || images.resolve(standInFor(reference) ?? reference) !== undefined;
}

/** Tells whoever looks at the Pod. */
export function standInRecorder(events: KubeletContext['events'], pod: Pod): (reference: string, standIn: string) => void {
  return (reference, standIn) => {
    const message = `Image "${reference}" cannot be pulled: ${standIn}, which this project builds, stands in for it`;
    events.record(pod, { type: 'Normal', reason: 'ImageStandIn', message });
  };
}
