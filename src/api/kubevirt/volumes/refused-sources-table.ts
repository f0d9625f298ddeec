/** Why a published source of a volume, or a part of one, is refused: a line goes when its source comes. */

export const REFUSED_OF_VOLUMES: Readonly<Record<string, string>> = {
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
  'volumes[].secret': 'disks made from Secrets are not here yet; cloudInitNoCloud.secretRef is',
  'volumes[].serviceAccount': 'the launcher Pod has no token; a guest gets one from a Secret',
  'volumes[].sysprep': 'answer files for Windows are not here yet',
};
