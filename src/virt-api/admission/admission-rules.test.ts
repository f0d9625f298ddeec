/**
 * Every rule of KubeVirt's admission, in short words and in the order of a manifest, and the proof that it is kept: the
 * case of a test by its name, or a field that is refused by name, so that there is nothing left to check. What is done otherwise says where
 * that is written down. A case that is renamed or a field that becomes honoured makes this fail.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { refusedFields } from '../../api/kubevirt/refused-fields.ts';
import type { JsonObject } from '../../base/json.ts';

type Proof = { readonly file: string; readonly cases: readonly string[] } | { readonly kind: string; readonly refused: string } | { readonly page: string; readonly says: string }; // biome-ignore format: a type
type Rule = readonly [rule: string, ...proofs: Proof[]];

const tests =
  (file: string) =>
  (...cases: string[]) => ({ file, cases });
const HERE = 'src/virt-api/admission';
const filled = tests(`${HERE}/default-vmi.test.ts`);
const spec = tests(`${HERE}/validate-vmi-spec/validate-vmi-spec.test.ts`);
const review = tests(`${HERE}/answer-review.test.ts`);
const world = tests(`${HERE}/admission-world.test.ts`);
const dataVolumes = tests(`${HERE}/validate-data-volume.test.ts`);
const types = tests(`${HERE}/instance-types.test.ts`);
const migration = tests(`${HERE}/migration.test.ts`);
const madeFromVm = tests('src/virt-controller/vm/vmi-for.test.ts');
const refused = (path: string) => ({ kind: 'VirtualMachineInstance', refused: path });
const page = (says: string) => ({ page: 'docs/compatibility.md', says });
const clones = tests(`${HERE}/validate-clone.test.ts`);

const ALL: readonly Rule[] = [
  ['unknown fields are refused when a client asks for strictness', tests('test/e2e/bad-input.test.ts')('an unknown field is named')],
  ['a broken rule is 422 with causes', review('every cause is told at once, in a message that names the object')],
  ['what is no review is 400', review('what is no AdmissionReview is a bad request')],
];

const DEFAULTS_OF_A_VM: readonly Rule[] = [
  [
    'instance type and preference: default kinds, inference',
    types('the kind is that of the cluster when it is not said', 'a volume says which type goes with it'),
  ],
  [
    'a UUID and a serial number',
    madeFromVm(
      'the firmware UUID is the same at every start of a VM and differs between VMs',
      'the serial number is the same at every start of a VM, differs between VMs, and is not the UUID',
    ),
    page('UUID and serial number follow from the uid'),
  ],
  ['architecture, machine type, PCI topology', page('Nothing is written into the template of a VirtualMachine')],
];

const DEFAULTS_OF_AN_INSTANCE: readonly Rule[] = [
  [
    'presets',
    tests('src/virt-api/admission/presets.test.ts')(
      'an instance with the label is given what it leaves open, and says so',
      'an instance that says it itself keeps it; the author is told, and the note is there for an event',
      'an instance of two presets that contradict each other is refused',
    ),
  ],
  ['architecture', filled('the architecture is amd64')],
  ['machine.type', filled('the machine type is q35', 'an empty machine type is q35')],
  ['cpu request from the limit', filled('a cpu request is as large as a limit that stands alone', 'a cpu request that is given stays')],
  ['cpu request of the installation', filled('fills in what the author left open', 'gives way to the author')],
  ['memory.guest', filled('guest memory is what is requested', 'guest memory is the limit when nothing is requested')],
  ['memory.guest from huge pages', refused('domain.memory.hugepages')],
  ['memory requests are not filled in', filled('a memory request is not made up')],
  [
    'cpu topology',
    filled(
      'without anything there is one processor',
      'the sockets follow from the limit, rounded up',
      'the sockets follow from the request when there is no limit',
      'a topology that is begun is not completed',
    ),
  ],
  ['cpu.model', filled('the processor model is host-model', 'fills in what the author left open')],
  ['cpu.maxSockets', spec('sockets have a bound')],
  ['memory.maxGuest', spec('memory has a bound')],
  [
    'imagePullPolicy',
    filled(
      'an image with a tag is taken if it is there',
      'an image with the tag latest is always asked for',
      'an image without a tag is always asked for',
      'an image with a digest is taken if it is there',
    ),
  ],
  ['evictionStrategy of the installation', filled('fills in what the author left open', 'gives way to the author')],
  ['network', filled('there is a card on the Pod network', 'no card when that is switched off', 'no card beside one that is listed')],
  [
    'default interface',
    filled('the card is behind the address of the Pod'),
    page('A card that nobody asked for is plugged in as `masquerade`'),
  ],
  [
    'disks',
    filled(
      'a volume without a disk gets one',
      'a device without a kind is a disk on sata',
      'a CD-ROM is read-only',
      'the tray of a CD-ROM is closed',
    ),
  ],
  ['inputs', filled('an input is a tablet', 'an input is on usb')],
  ['firmware.uuid', filled('the machine has an identity')],
  ['EFI on arm64', page('`architecture` | string | honoured: `amd64` alone')],
  ['features.acpi', filled('ACPI is on')],
  ['feature states', filled('a feature that is there is on')],
  ['spinlocks', filled('spinlocks try 4096 times')],
  [
    'Hyper-V dependencies',
    filled(
      'synictimer brings synic along',
      'synic brings vpindex along',
      'tlbflush brings vpindex along',
      'ipi brings vpindex along',
      'evmcs brings vapic along',
      'evmcs brings the processor feature vmx along',
    ),
  ],
  ['clock timers', filled('a timer that is there is present')],
  ['watchdog', filled('a watchdog resets')],
  ['probes', filled('a probe has its times and numbers', 'times and numbers of a probe that are given stay')],
  ['status', review('an instance is born Pending, with its memory and processors')],
  ['finalizer', filled('our finalizer, once')],
  ['terminationGracePeriodSeconds is not written', filled('a grace period is not written')],
  [
    'the status is put back on updates by users',
    review('a status that a user changes is put back', 'a status that a component changes is kept'),
  ],
  [
    'migrations and clones',
    migration('has its instance as a label, is the only one under way, and cannot be changed'),
    clones('a clone needs no name for its target'),
  ],
];

const NAMES_AND_SIZES: readonly Rule[] = [
  ['hostname', spec('hostname is a DNS label', 'hostname has no dots')],
  ['subdomain', spec('subdomain is a DNS subdomain')],
  ['serviceAccountName', spec('a service account has the name of an object', 'a Pod runs as one account')],
  ['memory is not negative', spec('memory is not negative')],
  ['a memory request is 1M', spec('a memory request is 1M or more')],
  ['memory request within limit', spec('a memory request is within the limit')],
  ['guest within limit', spec('the guest is within the memory limit')],
  ['some memory', spec('some memory is required')],
  ['huge pages', refused('domain.memory.hugepages')],
  ['cpu amounts', spec('cpu is not negative', 'a cpu request is within the limit')],
  ['maxSockets', spec('sockets have a bound', 'bounds that are kept are fine')],
  ['feature policy', spec('a feature policy is known')],
  ['isolateEmulatorThread', refused('domain.cpu.isolateEmulatorThread')],
  ['dedicated processors', refused('domain.cpu.dedicatedCpuPlacement')],
  ['NUMA', refused('domain.cpu.numa')],
  ['realtime', refused('domain.cpu.realtime')],
  ['machine.type', spec('machine.type fits the architecture', 'a versioned q35 is fine')],
  ['architecture', spec('the architecture is known')],
  ['EFI or BIOS', refused('domain.firmware.bootloader.efi')],
  ['secure boot', refused('domain.firmware.bootloader.efi')],
  ['kernelBoot', spec('a kernel has a path', 'a kernel is in its image', 'arguments are for a kernel')],
  ['ACPI slic and msdm', refused('domain.firmware.acpi')],
];

const DISKS_AND_VOLUMES: readonly Rule[] = [
  ['disk names', spec('disk names are unique')],
  ['a volume for each disk', spec('a disk has a volume', 'a near miss is pointed out')],
  ['one target', spec('a disk has one target')],
  [
    'LUN',
    spec('a LUN is on a PVC', 'a LUN is not hotplugged', 'a LUN has its own serial number'),
    refused('domain.devices.disks[].lun.reservation'),
  ],
  ['bus', spec('a disk bus is known', 'a CD-ROM is not virtio', 'a SATA disk is not read-only')],
  ['PCI address of a disk', spec('a place is on the root bus', 'a place is for cards alone')],
  ['bootOrder', spec('bootOrder is positive', 'bootOrder is unique', 'a turn in booting is given once')],
  ['serial', spec('a disk serial has few characters')],
  ['cache, io, errorPolicy', spec('cache is known', 'io is known', 'errorPolicy is known')],
  [
    'blockSize',
    spec('a block size is a power of two', 'a logical block fits a physical one'),
    spec('block sizes are given or matched', 'block sizes can be matched'),
  ],
  ['dedicatedIOThread', spec('only virtio disks have a thread of their own')],
  ['ioThreadsPolicy', spec('an I/O thread policy is known'), refused('domain.ioThreads')],
  ['volume names', spec('volume names are unique')],
  ['one source', spec('a volume has a source', 'a volume has one source')],
  ['each volume is used', filled('a volume without a disk gets one')],
  ['DataVolume', spec('a DataVolume has a name', 'a DataVolume has the name of an object')],
  [
    'at most one of some sources',
    spec('a Pod runs as one account'),
    refused('volumes[].downwardMetrics'),
    spec('memory is dumped to one volume'),
  ],
  [
    'cloud-init',
    spec(
      'inline user data is short',
      '2048 bytes of user data are fine',
      'inline network data is short',
      'encoded user data is short when decoded',
      'cloud-init has one source of user data',
      'cloud-init has one source of network data',
      'encoded data is base64',
      'cloud-init has some data',
    ),
  ],
  [
    'hostDisk',
    spec(
      'a file in a folder that was named',
      'a file that is to be made has a size',
      'are refused without the gate, and with it where no folder was named',
    ),
  ],
  ['names of ConfigMaps, Secrets', spec('a ConfigMap is named', 'a ConfigMap has the name of an object', 'a Secret is named')],
  ['containerPath', refused('volumes[].containerPath')],
];

const NETWORKS: readonly Rule[] = [
  ['names', spec('network names are unique', 'interface names are unique')],
  ['each has the other', spec('a network has an interface', 'an interface has a network')],
  ['one binding', spec('an interface has a binding', 'an interface has one binding')],
  ['one source', spec('a network has a source'), refused('networks[].resourceClaim')],
  ['one Pod network', spec('there is one Pod network')],
  ['multus', refused('networks[].multus')],
  ['interface names', spec('interface names have few characters')],
  ['MAC', spec('a MAC address is one', 'the MAC address of the bridge is reserved')],
  ['masquerade and passt', spec('masquerade is for the Pod network'), refused('domain.devices.interfaces[].passtBinding')],
  ['bridge on the Pod network', spec('bridge on the Pod network is permitted')],
  [
    'discontinued bindings',
    refused('domain.devices.interfaces[].slirp'),
    refused('domain.devices.interfaces[].macvtap'),
    refused('domain.devices.interfaces[].passt'),
  ],
  ['state', spec('a cable cannot be out'), refused('domain.devices.interfaces[].sriov')],
  ['ports', spec('a port is between 1 and 65535', 'a port is TCP or UDP', 'port names are unique')],
  ['portRanges', spec('a range ends behind its start', 'ranges are bounded')],
  ['DHCP options', refused('domain.devices.interfaces[].dhcpOptions')],
  ['model', spec('a model is known')],
  ['PCI address of an interface', spec('a place is given once')],
  ['multiqueue', review('what cannot be had in this way is taken with a warning')],
];

const THE_REST_OF_A_SPEC: readonly Rule[] = [
  ['probes', spec('a probe has a handler', 'a probe has one handler', 'a network probe needs the Pod network')],
  ['startStrategy', spec('a start strategy is known', 'a guest that starts paused has no liveness probe')],
  ['evictionStrategy', spec('an eviction strategy is known')],
  [
    'accessCredentials',
    spec(
      'a key has a kind',
      'a credential has one kind',
      'a credential has a source',
      'a credential has one way',
      'noCloud needs such a volume',
      'a key for the agent has users',
    ),
  ],
  ['DNS', spec('a DNS policy is known', 'without a DNS policy there is a name server', 'a name server is an address')],
  [
    'affinity',
    spec('an affinity is of a known kind', 'a required node affinity has a term', 'a Pod affinity has a topology', 'In takes values'),
  ],
  ['topologySpreadConstraints', spec('a spread has a topology', 'a spread says what else happens')],
  ['inputs', spec('an input is on a known bus', 'an input is a tablet')],
  ['sound', spec('a sound card has a name', 'a sound card has a known model')],
  ['video', spec('video needs a graphics device')],
  ['panic devices', spec('a panic device has a model')],
  ['host devices', refused('domain.devices.hostDevices'), refused('domain.devices.gpus')],
  ['VSOCK', refused('domain.devices.autoattachVSOCK')],
  ['downwardMetrics', refused('domain.devices.downwardMetrics')],
  ['SEV, TDX', refused('domain.launchSecurity')],
  ['annotations that change the domain', page('annotations and hooks that change it have nothing to act on')],
  ['reserved labels', review('a user cannot give it a reserved label', 'reserved labels are refused in the template, too')],
];

const OTHER_KINDS: readonly Rule[] = [
  ['VM: template', review('a template is required')],
  ['VM: running or runStrategy', review('running and runStrategy exclude each other', 'one of running and runStrategy is required')],
  ['VM: known strategy', page('all but `WaitAsReceiver`')],
  ['VM: warning about running', review('running alone is taken with a warning')],
  ['VM: dataVolumeTemplates', dataVolumes('a template of a machine is used by one of its volumes, and has a name of its own')],
  ['VM: instance type conflicts', types('what contradicts its type is named field by field')],
  ['VM: requirements of preferences', types('a preference that asks for more than the type has')],
  ['VM: volume requests', page('`volumeRequests`, `volumeSnapshotStatuses`')],
  ['VM: changes while a snapshot is taken or restored', page('a VirtualMachine that is edited while a snapshot of it is taken')],
  ['VMI: the spec is fixed for users', review('its spec is fixed for users', 'its spec may be changed by a component')],
  ['VMI: owners', review('a user can neither set nor take away an owner of ours', 'the garbage collector can take an owner away')],
  ['VMI: through the API server', world('an instance: completed, its spec fixed, its status out of reach')],
  ['VMIRS: template', review('the template of a replica set is checked')],
  ['VMIRS: selector', review('a replica set must select its own instances', 'a replica set must not select everything')],
  ['migrations', migration('names an instance that is there', 'is not made for an instance that has ended or stays, and says why')],
  ['clones', clones('a clone is of a machine or a snapshot', 'filters are keys with stars')],
  [
    'snapshots and restores',
    tests(`${HERE}/validate-snapshot.test.ts`)(
      'a snapshot is of a machine, within a time',
      'a restore is of a machine, from a snapshot',
      'neither becomes another one',
    ),
  ],
  ['pool: selector', review('a pool must select its own machines', 'the selector of a pool never changes')],
  ['pool: template, strategies, maxUnavailable', review('what is wrong about a pool is named by its field')],
  ['KubeVirt: one per cluster', review('a second one is refused and the first is named')],
  [
    'KubeVirt: what an update validates',
    tests('src/virt-operator/status/decide.test.ts')(
      'a patch that is no JSON and a flag that nobody has are told, and nothing else changes',
    ),
    tests('src/api/kubevirt/configuration/cluster-configuration.test.ts')('ciphers without a version', 'two seccomp profiles'),
  ],
  ['KubeVirt: uninstallStrategy', page('`uninstallStrategy` is `BlockUninstallIfWorkloadsExist` when it is not set')],
  ['preset: domain required', tests('src/virt-api/admission/presets.test.ts')('a preset that gives nothing')],
];

const SECTIONS: Readonly<Record<string, readonly Rule[]>> = {
  'all webhooks': ALL,
  'defaults of a VirtualMachine': DEFAULTS_OF_A_VM,
  'defaults of an instance': DEFAULTS_OF_AN_INSTANCE,
  'names, memory, processors, firmware': NAMES_AND_SIZES,
  'disks and volumes': DISKS_AND_VOLUMES,
  'networks and interfaces': NETWORKS,
  'the rest of a spec': THE_REST_OF_A_SPEC,
  'rules of other kinds': OTHER_KINDS,
};

for (const [section, rules] of Object.entries(SECTIONS)) {
  describe(section, () => {
    for (const [rule, ...proofs] of rules) {
      test(`admission, ${section}, ${rule}: ${proofs.map(words).join('; ')}`, () => {
        assert.ok(proofs.length > 0);
        for (const proof of proofs) check(proof);
      });
    }
  });
}

function words(proof: Proof): string {
  if ('cases' in proof) return proof.cases.join(', ');
  return 'refused' in proof ? `${proof.refused} is refused by name` : `written down as "${proof.says}"`;
}

function check(proof: Proof): void {
  if ('cases' in proof) {
    const text = readFileSync(proof.file, 'utf8');
    assert.ok(proof.cases.length > 0);
    for (const name of proof.cases) assert.ok(text.includes(name), `${proof.file} has no case "${name}"`);
  } else if ('refused' in proof) {
    const fields = refusedFields(proof.kind, { spec: objectAt(proof.refused.split('.')) }).map(({ field }) => field);
    assert.deepEqual(fields, [`spec.${proof.refused.replaceAll('[]', '[0]')}`]);
  } else assert.ok(readFileSync(proof.page, 'utf8').includes(proof.says), `${proof.page} does not say "${proof.says}"`);
}

/** An object that sets the field and nothing else. */
function objectAt([step = '', ...rest]: readonly string[]): JsonObject {
  const value = rest.length === 0 ? 'set' : objectAt(rest);
  return step.endsWith('[]') ? { [step.slice(0, -2)]: [value] } : { [step]: value };
}
