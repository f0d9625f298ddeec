/** Why a published field is refused, or what has to come first. The longest path that begins the field's own is its reason. */

const HARDWARE = 'passes a device of the host to the guest; needs device plugins';
const BACKUP = 'part of incremental backup, which is not here';
const MULTI_NETWORK = 'a guest has the Pod network alone; other networks need Multus on a cluster and have no counterpart embedded';
const CLUSTER_TUNING = 'pins or reserves memory and processors of a node; the embedded node has no CPU manager';
const OPERATOR = 'the operator puts its components in place as they are';
const MONITORING = 'there are no ServiceMonitors yet';
const MIGRATION = 'comes with live migration';
const HOTPLUG = 'comes with hotplug';
const CPU_MODELS = 'set domain.cpu.model on the machine; a default for all is not read yet';
const CLIENT_LIMITS = 'our clients have no such limit to tune';

const VMI: Readonly<Record<string, string>> = {
  'accessCredentials[].sshPublicKey.propagationMethod.configDrive': 'use noCloud, which every cloud-init reads, too',
  dnsConfig: 'the guest asks the resolver of its Pod network; cloud-init networkData can say otherwise',
  dnsPolicy: 'the guest asks the resolver of its Pod network; cloud-init networkData can say otherwise',
  'domain.clock': 'the clock of a guest runs in UTC',
  'domain.clock.timer.hpet.tickPolicy': 'QEMU has no choice of it',
  'domain.cpu.dedicatedCpuPlacement': CLUSTER_TUNING,
  'domain.cpu.isolateEmulatorThread': CLUSTER_TUNING,
  'domain.cpu.maxSockets': HOTPLUG,
  'domain.cpu.numa': CLUSTER_TUNING,
  'domain.cpu.realtime': CLUSTER_TUNING,
  'domain.devices.autoattachVSOCK': 'needs /dev/vhost-vsock, which an unprivileged Pod does not have',
  'domain.devices.clientPassthrough': 'USB redirection from the client is not here',
  'domain.devices.disableHotplug': 'there is no hotplug to disable',
  'domain.devices.disks[].blockSize.matchVolume': 'give the sizes as custom: images are files, whose size says nothing',
  'domain.devices.disks[].changedBlockTracking': BACKUP,
  'domain.devices.disks[].disk.pciAddress': 'addresses are given in the order of the list',
  'domain.devices.disks[].lun': 'SCSI passthrough needs a block device',
  'domain.devices.disks[].shareable': 'two machines on one disk need a lock manager between them',
  'domain.devices.disks[].tag': 'tags reach the guest through a metadata disk that is not made yet',
  'domain.devices.downwardMetrics': 'metrics of the host are not shown to guests',
  'domain.devices.filesystems': 'needs a virtiofsd beside QEMU',
  'domain.devices.gpus': HARDWARE,
  'domain.devices.hostDevices': HARDWARE,
  'domain.devices.interfaces[].acpiIndex': 'names of network cards follow from their order',
  'domain.devices.interfaces[].binding': 'network binding plugins are not here',
  'domain.devices.interfaces[].bootOrder': 'booting from the network is not here',
  'domain.devices.interfaces[].dhcpOptions': 'DHCP answers with address, router, resolver and host name',
  'domain.devices.interfaces[].macvtap': 'gone from KubeVirt, too',
  'domain.devices.interfaces[].passt': 'use masquerade: the same reach without a second process per guest',
  'domain.devices.interfaces[].passtBinding': 'use masquerade: the same reach without a second process per guest',
  'domain.devices.interfaces[].pciAddress': 'addresses are given in the order of the list',
  'domain.devices.interfaces[].portRanges': 'list single ports',
  'domain.devices.interfaces[].slirp': 'gone from KubeVirt, too; use masquerade',
  'domain.devices.interfaces[].sriov': HARDWARE,
  'domain.devices.interfaces[].state': HOTPLUG,
  'domain.devices.interfaces[].tag': 'tags reach the guest through a metadata disk that is not made yet',
  'domain.devices.watchdog.diag288': 'belongs to s390x',
  'domain.devices.logSerialConsole': 'the serial console is always logged',
  'domain.devices.networkInterfaceMultiqueue': 'network cards have one queue',
  'domain.devices.tpm': 'needs a swtpm beside QEMU',
  'domain.devices.useVirtioTransitional': 'devices are modern virtio alone; guests older than Linux 3.14 want sata and e1000',
  'domain.firmware.acpi': 'ACPI tables of the host are not shown to guests',
  'domain.firmware.bootloader.bios.useSerial': 'the firmware is silent; the serial console begins with the boot loader',
  'domain.firmware.bootloader.efi': 'guests start with SeaBIOS; EFI needs firmware images and a place for their variables',
  'domain.firmware.kernelBoot': 'booting a kernel from an image is not here yet',
  'domain.ioThreads': 'a pool of threads for one disk needs QEMU 9; ioThreadsPolicy is there',
  'domain.launchSecurity': 'needs hardware for confidential computing',
  'domain.memory.hugepages': CLUSTER_TUNING,
  'domain.memory.maxGuest': HOTPLUG,
  'domain.memory.reservedOverhead': 'the overhead is computed, not told',
  'domain.resources.overcommitGuestOverhead': 'the overhead is always requested on top',
  'networks[].multus': MULTI_NETWORK,
  'networks[].pod.vmIPv6NetworkCIDR': 'guests have IPv4 alone',
  'networks[].resourceClaim': HARDWARE,
  resourceClaims: HARDWARE,
  serviceAccountName: 'the launcher Pod has no token; a guest gets one from a Secret',
  topologySpreadConstraints: 'not passed on to the Pod yet; affinity is',
  utilityVolumes: BACKUP,
  'volumes[].cloudInitConfigDrive': 'use cloudInitNoCloud, which every cloud-init reads, too',
  'volumes[].cloudInitNoCloud.networkDataSecretRef': 'give networkData in the manifest',
  'volumes[].configMap': 'disks made from ConfigMaps are not here yet',
  'volumes[].containerDisk.imagePullSecret': 'images are pulled without credentials, or put in place with virtctl image',
  'volumes[].containerPath': 'needs a virtiofsd beside QEMU',
  'volumes[].dataVolume': 'DataVolumes belong to CDI',
  'volumes[].downwardAPI': 'disks made from fields of the object are not here yet',
  'volumes[].downwardMetrics': 'metrics of the host are not shown to guests',
  'volumes[].hostDisk': 'files of the host are a way out of the Pod; off by default in KubeVirt, too',
  'volumes[].memoryDump': 'memory dumps are not here',
  'volumes[].persistentVolumeClaim.hotpluggable': HOTPLUG,
  'volumes[].secret': 'disks made from Secrets are not here yet; cloudInitNoCloud.secretRef is',
  'volumes[].serviceAccount': 'the launcher Pod has no token; a guest gets one from a Secret',
  'volumes[].sysprep': 'answer files for Windows are not here yet',
};

const VM: Readonly<Record<string, string>> = {
  dataVolumeTemplates: 'DataVolumes belong to CDI',
  instancetype: 'instance types are not here yet: write cpu and memory in the template',
  preference: 'preferences are not here yet: write them out in the template',
  updateVolumesStrategy: 'volumes are replaced at the next start',
};

const KUBEVIRT: Readonly<Record<string, string>> = {
  'certificateRotateStrategy.selfSigned': 'give ca.duration, ca.renewBefore, server.duration and server.renewBefore instead',
  configuration: 'no component reads it yet',
  'configuration.apiConfiguration': CLIENT_LIMITS,
  'configuration.controllerConfiguration': CLIENT_LIMITS,
  'configuration.cpuModel': CPU_MODELS,
  'configuration.developerConfiguration': 'nothing here is tuned by it',
  'configuration.developerConfiguration.useEmulation':
    'the accelerator is chosen by looking at the host; start the embedded cluster with KUBEVIRT_ACCEL=tcg',
  'configuration.handlerConfiguration': CLIENT_LIMITS,
  'configuration.mediatedDevicesConfiguration': HARDWARE,
  'configuration.migrations': MIGRATION,
  'configuration.minCPUModel': CPU_MODELS,
  'configuration.obsoleteCPUModels': CPU_MODELS,
  'configuration.permittedHostDevices': HARDWARE,
  'configuration.webhookConfiguration': CLIENT_LIMITS,
  'configuration.liveUpdateConfiguration': HOTPLUG,
  customizeComponents: OPERATOR,
  monitorAccount: MONITORING,
  monitorNamespace: MONITORING,
  product: OPERATOR,
  serviceMonitorNamespace: MONITORING,
  synchronizationPort: MIGRATION,
  workloadUpdateStrategy: MIGRATION,
  'workloads.replicas': 'there is one virt-handler on each node',
};

const REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  VirtualMachineSpec: VM,
  VirtualMachineInstanceSpec: VMI,
  KubeVirtSpec: KUBEVIRT,
};
const TEMPLATE = 'template.spec.';

/** Why a published field is refused: `VirtualMachineSpec`, `template.spec.domain.devices.disks[].lun`. Undefined when nobody wrote it down. */
export function whyRefused(specType: string, path: string): string | undefined {
  if (path.startsWith(TEMPLATE)) return whyRefused('VirtualMachineInstanceSpec', path.slice(TEMPLATE.length));
  const reasons = REASONS[specType] ?? {};
  const begins = Object.keys(reasons).filter((prefix) => path.startsWith(prefix));
  return reasons[begins.sort((a, b) => b.length - a.length)[0] ?? ''];
}
