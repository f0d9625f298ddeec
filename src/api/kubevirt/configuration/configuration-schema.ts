/** The schema of `spec.configuration` of a KubeVirt object: how machines are run. What each field comes to is in cluster-configuration.ts. */
import { boolean, foreign, integer, list, mapOf, number, object, oneOf, optional, quantity, text } from '../../schema/dsl.ts';
import { migrationConfigurationSchema } from './migration-configuration-schema.ts';

const verbosity = optional(integer('From 0 to 9; 2 when it is not set.', { minimum: 0, maximum: 9 }));
const gates = (what: string) => optional(list(what, text('The name.'), { maxItems: 1000 }));
const machines = optional(list('Machine types that machines may ask for, with * for any letters.', text('The type.'), { maxItems: 100 }));
const EFI = 'Where the firmware for EFI is. Kept: machines that ask for EFI are refused either way.';
const clientLimits = (whose: string) =>
  optional(
    object(`How much ${whose} asks of the API server.`, {
      restClient: optional(
        object('Its client.', {
          rateLimiter: optional(
            object('How it is slowed down.', {
              tokenBucketRateLimiter: optional(
                object('So many requests at once, and then so many a second.', {
                  qps: number('Requests a second, over time.', { minimum: 1 }),
                  burst: integer('Requests at once.', { minimum: 1, maximum: 100_000 }),
                }),
              ),
            }),
          ),
        }),
      ),
    }),
  );
const ARCHITECTURE = {
  ovmfPath: optional(text(EFI)),
  machineType: optional(text('The machine type of a machine that names none.')),
  emulatedMachines: machines,
};

const developerConfiguration = object('Settings for trying things out.', {
  featureGates: gates(
    'Features to switch on. What KubeVirt has a gate for is always on here, or does not exist; those names are kept and change nothing, but for EnableVirtioFsStorageVolumes: machines may share the folders of PVCs (domain.devices.filesystems); on in the embedded cluster; and HostDisk: files in hostDiskFolders may be disks. Two are ours. UserNamespaces: launcher Pods run in a user namespace of their own. LauncherFailFast: instances with the annotation kubevirt.io/func-test-virt-launcher-fail-fast fail at once.',
  ),
  hostDiskFolders: optional(
    list(
      'Ours: folders of the nodes in which files may be disks of machines, with the feature gate HostDisk. Who may make machines there reaches all files in the folder.',
      object('One.', {
        path: text('The folder, on each node that runs such machines.', { minLength: 2, maxLength: 4096 }),
        namespaces: optional(list('Whose machines; those of all namespaces when it is not set.', text('A namespace.'), { maxItems: 1000 })),
      }),
      { maxItems: 100 },
    ),
  ),
  disabledFeatureGates: gates('Features to switch off; a name that is in both lists is refused.'),
  logVerbosity: optional(
    object('How much components say: everything from 3 on. Embedded they share a log, whose level is that of KUBEVIRT_LOG.', {
      virtAPI: verbosity,
      virtController: verbosity,
      virtHandler: verbosity,
      virtLauncher: verbosity,
      virtOperator: verbosity,
      virtSynchronizationController: verbosity,
      nodeVerbosity: optional(mapOf('Of the virt-handler of a node, by its name.', integer('How much.', { minimum: 0, maximum: 9 }))),
    }),
  ),
  useEmulation: optional(boolean('True runs guests without KVM, also where a node has it.')),
  cpuAllocationRatio: optional(
    integer('How many virtual processors share a real one; 10 when it is not set.', { minimum: 1, maximum: 1_000_000 }),
  ),
  memoryOvercommit: optional(
    integer('How much memory guests see, in percent of what their Pods ask for; 100 when it is not set.', { minimum: 10, maximum: 10_000 }),
  ),
  nodeSelectors: optional(mapOf('Labels that the node of every machine must have.', text('The value.'))),
});

const seccompConfiguration = object('Which system calls are allowed.', {
  virtualMachineInstanceProfile: optional(
    object('To launcher Pods.', {
      customProfile: optional(
        object('One of two.', {
          localhostProfile: optional(text('A file under the seccomp folder of the kubelet.', { maxLength: 1024 })),
          runtimeDefaultProfile: optional(boolean('That of the container runtime, which is the default.')),
        }),
      ),
    }),
  ),
});

const amounts = (what: string) => optional(mapOf(what, quantity('How much.')));

export const configurationSchema = object(
  'How machines are run. A change reaches running components; machines take it up at their next start.',
  {
    apiConfiguration: clientLimits('virt-api'),
    controllerConfiguration: clientLimits('virt-controller'),
    handlerConfiguration: clientLimits('virt-handler'),
    webhookConfiguration: clientLimits('virt-api, when nothing else is said of it,'),
    ovmfPath: optional(text(EFI)),
    vmStateStorageClass: optional(
      text('The storage class for what a TPM and EFI keep. Kept: machines that ask for one of them are refused either way.', {
        maxLength: 253,
      }),
    ),
    migrations: optional(migrationConfigurationSchema),
    liveUpdateConfiguration: optional(
      foreign(
        'How far machines grow while they run, with the rollout strategy LiveUpdate. Kept: it is Stage here, with which KubeVirt ignores it, too.',
      ),
    ),
    additionalGuestMemoryOverheadRatio: optional(text('What the memory beside that of the guest is multiplied by, as in "1.5".')),
    architectureConfiguration: optional(
      object('Settings by processor architecture. There is amd64 alone: those of others are kept and change nothing.', {
        amd64: optional(object('Goes before the settings for all.', ARCHITECTURE)),
        arm64: optional(object('Kept.', ARCHITECTURE)),
        s390x: optional(object('Kept.', ARCHITECTURE)),
        ppc64le: optional(object('Kept.', ARCHITECTURE)),
        defaultArchitecture: optional(oneOf('Of a machine that names none.', ['amd64'])),
      }),
    ),
    commonInstancetypesDeployment: optional(
      object('The instance types and preferences that come with an installation.', {
        enabled: optional(boolean('Whether there are any; true when it is not set. Machines keep what they were made with.')),
      }),
    ),
    cpuModel: optional(text('The processor model of a machine that names none; host-model when it is not set.', { maxLength: 256 })),
    cpuRequest: optional(quantity('What a machine that names no processors asks its node for.')),
    defaultRuntimeClass: optional(text('The runtime class of launcher Pods.', { maxLength: 253 })),
    developerConfiguration: optional(developerConfiguration),
    emulatedMachines: machines,
    evictionStrategy: optional(
      oneOf('What to do with a machine that does not say it, when its node is drained.', [
        'None',
        'LiveMigrateIfPossible',
        'LiveMigrate',
        'External',
      ]),
    ),
    hypervisors: optional(list('What runs guests.', object('One.', { name: optional(oneOf('There is one.', ['kvm'])) }), { maxItems: 1 })),
    imagePullPolicy: optional(
      oneOf('When the image of launcher Pods is fetched; IfNotPresent when it is not set.', ['Always', 'IfNotPresent', 'Never']),
    ),
    instancetype: optional(
      object('Instance types and preferences.', {
        referencePolicy: optional(
          oneOf(
            'What becomes of those that machines name. reference, which is the default: a copy is kept for each machine. expand: they are written into the machine in their place, unless it has a copy. expandAll: also where it has one.',
            ['reference', 'expand', 'expandAll'],
          ),
        ),
      }),
    ),
    machineType: optional(text('The machine type of a machine that names none; q35 when it is not set.')),
    memBalloonStatsPeriod: optional(
      integer('How often guests are asked about their memory, in seconds, for metrics and history: 10 when it is not set; 0 is never.', {
        minimum: 0,
        maximum: 86_400,
      }),
    ),
    network: optional(
      object('The network of machines.', {
        defaultNetworkInterface: optional(oneOf('How a card that nobody asked for is plugged in.', ['masquerade'])),
        binding: optional(foreign('Plugins for network cards. Kept: machines that ask for one are refused either way.')),
        permitBridgeInterfaceOnPodNetwork: optional(boolean('Kept: bridges are refused either way.')),
        permitSlirpInterface: optional(boolean('Kept: this binding is refused either way.')),
      }),
    ),
    permittedHostDevices: optional(
      foreign('Devices of nodes that machines may have. Kept: machines that ask for one are refused either way.'),
    ),
    roleAggregationStrategy: optional(
      oneOf(
        'Whether view, edit and admin of Kubernetes have rights on machines. Manual: our own roles have to be bound. For virt-operator.',
        ['AggregateToDefault', 'Manual'],
      ),
    ),
    seccompConfiguration: optional(seccompConfiguration),
    selinuxLauncherType: optional(text('The SELinux type of launcher Pods.', { maxLength: 256 })),
    smbios: optional(
      object('What guests read about the maker of their machine.', {
        manufacturer: optional(text('KubeVirt when it is not set.', { maxLength: 256 })),
        product: optional(text('None when it is not set.', { maxLength: 256 })),
        version: optional(text('Of the product.', { maxLength: 256 })),
        sku: optional(text('Of the product.', { maxLength: 256 })),
        family: optional(text('KubeVirt when it is not set.', { maxLength: 256 })),
      }),
    ),
    supportContainerResources: optional(
      list(
        'What containers beside the guest ask for.',
        object('Those of one type.', {
          type: oneOf('container-disk: those that hold disks. The others do not exist here; their lines are kept.', [
            'container-disk',
            'hotplug-disk',
            'guest-console-log',
            'sidecar',
            'virtiofs',
            'vmexport',
          ]),
          resources: object('As in a Pod.', { requests: amounts('What is set aside.'), limits: amounts('What is the most.') }),
        }),
        { maxItems: 20 },
      ),
    ),
    supportedGuestAgentVersions: optional(list('Deprecated, and without effect in KubeVirt too.', text('A pattern.'), { maxItems: 100 })),
    tlsConfiguration: optional(
      object('The TLS of virt-api. Between our own components it is 1.3.', {
        minTLSVersion: optional(
          oneOf('The oldest version; never below 1.2, whatever this says.', [
            'VersionTLS10',
            'VersionTLS11',
            'VersionTLS12',
            'VersionTLS13',
          ]),
        ),
        ciphers: optional(
          list('Ciphers of TLS 1.2, which then has to be the minimum.', text('As TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256.'), {
            maxItems: 100,
          }),
        ),
      }),
    ),
    virtualMachineInstancesPerNode: optional(
      integer('How many machines of a node may have KVM; 1000 when it is not set.', { minimum: 1, maximum: 10_000 }),
    ),
    virtualMachineOptions: optional(
      object('What is left out of every machine.', {
        disableFreePageReporting: optional(object('Guests do not tell which pages they have free.', {})),
        disableSerialConsoleLog: optional(object('No log of the serial console is kept, unless a machine asks for it.', {})),
      }),
    ),
    vmRolloutStrategy: optional(oneOf('When a change of a machine reaches its guest. Stage: at its next start.', ['Stage'])),
  },
  // virtctl of KubeVirt adds to it by JSON Patch, which needs it to be there, as it always is in KubeVirt's.
  { default: {} },
);
