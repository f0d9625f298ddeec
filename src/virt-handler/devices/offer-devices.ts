/**
 * The devices of this node that the kubelet is told of, under the names that clients of KubeVirt look for. A launcher of ours asks for KVM alone;
 * the others are offered where the node has them, to Pods that bring a network of their own.
 */
import { existsSync } from 'node:fs';
import { RESOURCE_KVM, RESOURCE_TUN, RESOURCE_VHOST_NET } from '../../api/kubevirt/names.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { showsKvm } from '../../qemu/accelerator.ts';
import { type DeviceOffer, offerDevice } from './device-plugin.ts';

type Common = Pick<DeviceOffer, 'clock' | 'log' | 'signal'>;
type NodeDevice = { readonly resource: string; readonly path: string; readonly isThere: () => boolean };

/** By what the kernel says of itself: virt-handler does not see the devices of its node. */
const DEVICES: readonly NodeDevice[] = [
  { resource: RESOURCE_KVM, path: '/dev/kvm', isThere: showsKvm },
  { resource: RESOURCE_TUN, path: '/dev/net/tun', isThere: () => existsSync('/sys/class/misc/tun') },
  { resource: RESOURCE_VHOST_NET, path: '/dev/vhost-net', isThere: () => existsSync('/sys/class/misc/vhost-net') },
];

/** Keeps offering until the signal aborts. Devices do not run out: how many may have one is what the installation says. */
export async function offerDevices(
  folder: string | undefined,
  { configuration, ...common }: Common & { readonly configuration: FollowedConfiguration },
  devices = DEVICES,
): Promise<void> {
  if (folder === undefined) return;
  const offers = devices.filter(({ isThere }) => isThere());
  await Promise.all(
    offers.map(({ resource, path }) =>
      offerDevice({
        ...{ ...common, folder, resource, device: { containerPath: path, hostPath: path, permissions: 'rw' } },
        ...{ count: () => configuration.current.machinesPerNode, onCountChange: configuration.onChange },
      }),
    ),
  );
}
