/** Why a published field of an instance's spec is refused, or what has to come first. The longest path that begins the field's own is its reason. */
import { REFUSED_OF_VOLUMES } from '../volumes/refused-sources-table.ts';

export const HARDWARE = 'passes a device of the host to the guest; needs device plugins';
const BACKUP =
  'backups need no such field: changed blocks of all disks are tracked from the first one with a tracker on, and its PVC is attached by a Pod';
const MULTI_NETWORK = 'a guest has the Pod network alone; other networks need Multus on a cluster and have no counterpart embedded';
const CLUSTER_TUNING = 'pins or reserves memory and processors of a node; the embedded node has no CPU manager';

export const REFUSED_OF_VMI: Readonly<Record<string, string>> = {
  'domain.cpu.dedicatedCpuPlacement': CLUSTER_TUNING,
  'domain.cpu.isolateEmulatorThread': CLUSTER_TUNING,
  'domain.cpu.numa': CLUSTER_TUNING,
  'domain.cpu.realtime': CLUSTER_TUNING,
  'domain.devices.autoattachVSOCK': 'needs /dev/vhost-vsock, which an unprivileged Pod does not have',
  'domain.devices.clientPassthrough': 'USB redirection from the client is not supported',
  'domain.devices.disks[].changedBlockTracking': BACKUP,
  'domain.devices.disks[].lun.reservation': 'reservations of a SCSI disk need a privileged program on the node',
  'domain.devices.downwardMetrics': 'metrics of the host are not shown to guests',
  'domain.devices.gpus': HARDWARE,
  'domain.devices.hostDevices': HARDWARE,
  'domain.devices.interfaces[].binding': 'network binding plugins are not supported',
  'domain.devices.interfaces[].dhcpOptions': 'DHCP answers with address, router, resolver and host name',
  'domain.devices.interfaces[].macvtap': 'gone from KubeVirt, too',
  'domain.devices.interfaces[].passt': 'use masquerade: the same reach without a second process per guest',
  'domain.devices.interfaces[].passtBinding': 'use masquerade: the same reach without a second process per guest',
  'domain.devices.interfaces[].slirp': 'gone from KubeVirt, too; use masquerade',
  'domain.devices.interfaces[].sriov': HARDWARE,
  'domain.devices.watchdog.diag288': 'belongs to s390x',
  'domain.devices.tpm': 'needs a swtpm beside QEMU',
  'domain.firmware.acpi': 'ACPI tables of the host are not shown to guests',
  'domain.firmware.bootloader.efi': 'guests start with SeaBIOS; EFI needs firmware images and a place for their variables',
  'domain.ioThreads': 'a pool of threads for one disk needs QEMU 9; ioThreadsPolicy is there',
  'domain.launchSecurity': 'needs hardware for confidential computing',
  'domain.memory.hugepages': CLUSTER_TUNING,
  'networks[].multus': MULTI_NETWORK,
  'networks[].pod.vmIPv6NetworkCIDR': 'guests have IPv4 alone',
  'networks[].resourceClaim': HARDWARE,
  resourceClaims: HARDWARE,
  utilityVolumes: BACKUP,
  ...REFUSED_OF_VOLUMES,
};
