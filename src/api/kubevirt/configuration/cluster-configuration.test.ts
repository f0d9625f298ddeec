import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeVirt } from '../kinds/kubevirt.ts';
import {
  ALL_MACHINES,
  type ClusterConfiguration,
  clusterConfigurationOf,
  DEFAULT_CONFIGURATION,
  isAmongMachines,
  type KubeVirtConfiguration,
} from './cluster-configuration.ts';
import { configurationCauses } from './configuration-causes.ts';
import { ANNOTATION_GOOD_CONFIGURATION, goodConfigurationOf, newGoodConfiguration } from './good-configuration.ts';
import { isVerbose } from './log-verbosity.ts';
import { DEFAULT_MIGRATIONS } from './migration-settings.ts';

const SETTINGS: readonly [what: string, given: KubeVirtConfiguration, becomes: Partial<ClusterConfiguration>][] = [
  ['nothing is the defaults', {}, {}],
  ['the machine type for all', { machineType: 'pc-q35-7.2' }, { machineType: 'pc-q35-7.2' }],
  [
    'that of the architecture goes first',
    { machineType: 'q35', architectureConfiguration: { amd64: { machineType: 'pc-q35-7.2' }, arm64: { machineType: 'virt' } } },
    { machineType: 'pc-q35-7.2' },
  ],
  ['machines that may be asked for', { emulatedMachines: ['pc-q35-7*'] }, { emulatedMachines: ['pc-q35-7*'] }],
  ['no list is no rule', { emulatedMachines: [] }, { emulatedMachines: ALL_MACHINES }],
  ['a processor model', { cpuModel: 'Penryn' }, { cpuModel: 'Penryn' }],
  ['a cpu request', { cpuRequest: '250m' }, { cpuRequest: '250m' }],
  ["KubeVirt's default of it is none", { cpuRequest: '100m' }, {}],
  ['an eviction strategy', { evictionStrategy: 'None' }, { evictionStrategy: 'None' }],
  ['when launchers are pulled', { imagePullPolicy: 'Always' }, { launcherPullPolicy: 'Always' }],
  ['a ratio of overhead', { additionalGuestMemoryOverheadRatio: '1.5' }, { overheadRatio: 1.5 }],
  [
    'limits of clients, of virt-api that of its webhooks where nothing else is said',
    Object.fromEntries(
      ['webhookConfiguration', 'handlerConfiguration'].map((field, index) => [
        field,
        { restClient: { rateLimiter: { tokenBucketRateLimiter: { qps: 5.5, burst: index + 1 } } } },
      ]),
    ),
    { clientLimits: { 'virt-api': { qps: 5.5, burst: 1 }, 'virt-handler': { qps: 5.5, burst: 2 } } },
  ],
  ['launchers that fail', { developerConfiguration: { featureGates: ['LauncherFailFast'] } }, { machineSettings: { mayFailFast: true } }],
  [
    'how machines are moved',
    { migrations: { parallelMigrationsPerCluster: 9, bandwidthPerMigration: '64Mi', disableTLS: false } },
    { migrations: { ...DEFAULT_MIGRATIONS, parallelMigrationsPerCluster: 9, bandwidthPerMigration: '64Mi' } },
  ],
  ['the taint of drained nodes', { migrations: { nodeDrainTaintKey: 'example.com/away' } }, { nodeDrainTaintKey: 'example.com/away' }],
  ['a runtime class', { defaultRuntimeClass: 'kata' }, { runtimeClass: 'kata' }],
  ['an SELinux type', { selinuxLauncherType: 'container_kvm_t' }, { selinuxType: 'container_kvm_t' }],
  [
    'a seccomp profile of the node',
    { seccompConfiguration: { virtualMachineInstanceProfile: { customProfile: { localhostProfile: 'kubevirt/x.json' } } } },
    { seccompProfile: { type: 'Localhost', localhostProfile: 'kubevirt/x.json' } },
  ],
  [
    'that of the runtime',
    { seccompConfiguration: { virtualMachineInstanceProfile: { customProfile: { runtimeDefaultProfile: true } } } },
    {},
  ],
  [
    'what containers with disks ask for, and no others',
    {
      supportContainerResources: [
        { type: 'sidecar', resources: { requests: { cpu: '1' } } },
        { type: 'container-disk', resources: { requests: { cpu: '5m' }, limits: { memory: 1024 } } },
      ],
    },
    { diskContainerResources: { requests: { cpu: '5m' }, limits: { memory: '1024' } } },
  ],
  [
    'what launchers are told',
    {
      smbios: { product: 'Cloud' },
      memBalloonStatsPeriod: 10,
      virtualMachineOptions: { disableFreePageReporting: {}, disableSerialConsoleLog: {} },
    },
    {
      machineSettings: { smbios: { product: 'Cloud' }, balloonStatsSeconds: 10, isFreePageReportingOff: true },
      isSerialLogOff: true,
    },
  ],
  ['a minimum of TLS', { tlsConfiguration: { minTLSVersion: 'VersionTLS13' } }, { tls: { minVersion: 'TLSv1.3', ciphers: undefined } }],
  ['one that is too low is ours', { tlsConfiguration: { minTLSVersion: 'VersionTLS10' } }, {}],
  [
    'ciphers of TLS 1.2',
    { tlsConfiguration: { minTLSVersion: 'VersionTLS12', ciphers: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] } },
    {
      tls: {
        minVersion: 'TLSv1.2',
        ciphers: 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256',
      },
    },
  ],
  ['machines of a node', { virtualMachineInstancesPerNode: 20 }, { machinesPerNode: 20 }],
  [
    'folders for files of nodes count with the gate',
    { developerConfiguration: { featureGates: ['HostDisk'], hostDiskFolders: [{ path: '/srv/a' }] } },
    { hostDiskFolders: [{ path: '/srv/a' }] },
  ],
  ['without it they do not', { developerConfiguration: { hostDiskFolders: [{ path: '/srv/a' }] } }, {}],
  ['the gate alone allows no folder', { developerConfiguration: { featureGates: ['HostDisk'] } }, { hostDiskFolders: [] }],
  [
    'what is for trying things out',
    {
      developerConfiguration: {
        useEmulation: true,
        cpuAllocationRatio: 4,
        memoryOvercommit: 150,
        nodeSelectors: { disk: 'ssd' },
        featureGates: ['UserNamespaces', 'Snapshot'],
      },
    },
    { isEmulated: true, cpuAllocationRatio: 4, memoryOvercommit: 150, nodeSelectors: { disk: 'ssd' }, hasUserNamespaces: true },
  ],
];

describe('a configuration', () => {
  for (const [what, given, becomes] of SETTINGS)
    test(what, () => assert.deepEqual(clusterConfigurationOf(given), { ...DEFAULT_CONFIGURATION, ...becomes }));

  test('a star in a machine type stands for any letters', () => {
    const matches = (pattern: string) => ['q35', 'q35-1', 'pc-q35-7.2', 'pc'].filter((type) => isAmongMachines(type, [pattern]));
    assert.deepEqual(matches('q35'), ['q35']);
    assert.deepEqual(matches('q35*'), ['q35', 'q35-1']);
    assert.deepEqual(matches('*q35*'), ['q35', 'q35-1', 'pc-q35-7.2']);
    assert.deepEqual(matches('pc-*.2'), ['pc-q35-7.2']);
    assert.deepEqual(matches('*'), ['q35', 'q35-1', 'pc-q35-7.2', 'pc']);
    assert.deepEqual(matches('pc-q35-7.2*7.2'), []);
  });
});

const WRONG: readonly [what: string, given: KubeVirtConfiguration, field: string][] = [
  ...['relative', '/', '/etc', '/etc/x', '/proc', '/srv/../etc', '/srv/', '/var', '/var/run/x', '/dev/shm'].map(
    (path): [string, KubeVirtConfiguration, string] => [
      `files of nodes in ${path}`,
      { developerConfiguration: { hostDiskFolders: [{ path: '/srv/fine' }, { path }] } },
      'developerConfiguration.hostDiskFolders[1].path',
    ],
  ),
  ['a machine that does not exist', { machineType: 'pc' }, 'machineType'],
  ['a machine that is not among those allowed', { machineType: 'q35', emulatedMachines: ['pc-q35*'] }, 'machineType'],
  [
    'the same of an architecture',
    { architectureConfiguration: { amd64: { machineType: 'pc-q35-7.2', emulatedMachines: ['q35*'] } } },
    'architectureConfiguration.amd64.machineType',
  ],
  [
    'a gate that is on and off',
    { developerConfiguration: { featureGates: ['A', 'B'], disabledFeatureGates: ['B'] } },
    'developerConfiguration.disabledFeatureGates',
  ],
  [
    'two seccomp profiles',
    {
      seccompConfiguration: {
        virtualMachineInstanceProfile: { customProfile: { localhostProfile: 'x', runtimeDefaultProfile: true } },
      },
    },
    'seccompConfiguration.virtualMachineInstanceProfile.customProfile',
  ],
  [
    'a profile outside of its folder',
    { seccompConfiguration: { virtualMachineInstanceProfile: { customProfile: { localhostProfile: '../x' } } } },
    'seccompConfiguration.virtualMachineInstanceProfile.customProfile.localhostProfile',
  ],
  ['a ratio that is no number', { additionalGuestMemoryOverheadRatio: 'a lot' }, 'additionalGuestMemoryOverheadRatio'],
  ['a maker with a line break', { smbios: { family: 'a\nb' } }, 'smbios.family'],
  ['ciphers without a version', { tlsConfiguration: { ciphers: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] } }, 'tlsConfiguration.ciphers'],
  [
    'ciphers for TLS 1.3',
    { tlsConfiguration: { minTLSVersion: 'VersionTLS13', ciphers: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] } },
    'tlsConfiguration.ciphers',
  ],
  [
    'ciphers that nobody knows',
    { tlsConfiguration: { minTLSVersion: 'VersionTLS12', ciphers: ['ROT13', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] } },
    'tlsConfiguration.ciphers',
  ],
  [
    'ciphers for other certificates alone',
    { tlsConfiguration: { minTLSVersion: 'VersionTLS12', ciphers: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] } },
    'tlsConfiguration.ciphers',
  ],
  ['a ratio below one', { additionalGuestMemoryOverheadRatio: '0.5' }, 'additionalGuestMemoryOverheadRatio'],
];

describe('a configuration that contradicts itself', () => {
  for (const [what, given, field] of WRONG)
    test(`${what} is named`, () => {
      assert.deepEqual(
        configurationCauses(given).map((cause) => cause.field),
        [`spec.configuration.${field}`],
      );
    });

  const kubeVirt = (configuration: KubeVirtConfiguration, kept?: string): KubeVirt => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', ...(kept !== undefined && { annotations: { [ANNOTATION_GOOD_CONFIGURATION]: kept } }) },
    spec: { configuration },
  });
  const bad: KubeVirtConfiguration = { machineType: 'pc' };

  test('is not in force: the last good one is, as far as it is known', () => {
    assert.deepEqual(goodConfigurationOf(kubeVirt({ cpuModel: 'a' })), { cpuModel: 'a' });
    assert.deepEqual(goodConfigurationOf(kubeVirt(bad, '{"cpuModel":"a"}')), { cpuModel: 'a' });
    for (const kept of [undefined, '', '{', '[]', JSON.stringify(bad)]) assert.equal(goodConfigurationOf(kubeVirt(bad, kept)), undefined);
  });

  test('is not kept as good', () => {
    assert.equal(newGoodConfiguration(kubeVirt(bad)), undefined);
    assert.equal(newGoodConfiguration(kubeVirt({})), undefined);
    assert.equal(newGoodConfiguration(kubeVirt({ cpuModel: 'a' })), '{"cpuModel":"a"}');
    assert.equal(newGoodConfiguration(kubeVirt({ cpuModel: 'a' }, '{"cpuModel":"a"}')), undefined);
    assert.equal(newGoodConfiguration(kubeVirt({}, '{"cpuModel":"a"}')), '{}');
  });
});

test('a component says everything from 3 on, and a node goes first', () => {
  const configuration = clusterConfigurationOf({
    developerConfiguration: { logVerbosity: { virtAPI: 3, virtHandler: 6, nodeVerbosity: { quiet: 0, loud: 9 } } },
  });
  assert.deepEqual(
    [
      isVerbose(configuration, 'virt-api'),
      isVerbose(configuration, 'virt-controller'),
      isVerbose(configuration, 'virt-handler', 'other'),
      isVerbose(configuration, 'virt-handler', 'quiet'),
      isVerbose(DEFAULT_CONFIGURATION, 'virt-handler', 'loud'),
    ],
    [true, false, true, false, false],
  );
});
