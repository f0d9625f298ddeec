/**
 * What a machine is set to, what its running guest has of that, and what a change takes. Pure.
 *
 *   live            a change has its effect at once
 *   next start      it does not run: whatever is changed is there when it starts
 *   needs restart   the running guest has what is set; a change waits for a restart
 *   pending         it was changed, and the running guest does not have it yet
 */
import { vmCondition } from '../api/kubevirt/condition-reasons.ts';
import { runStrategyOf, type VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { normaliseVmiSpec } from '../api/kubevirt/normalise-vmi-spec.ts';
import { guestMemoryBytesOf, vcpusOf } from '../api/kubevirt/vmi-size.ts';
import type { VmiSpec } from '../api/kubevirt/vmi-spec-schema.ts';
import { claimOf, imageOf, isHotpluggable, sourceNamesOf } from '../api/kubevirt/volumes/source-of.ts';
import { formatBytes } from '../base/quantity.ts';
import { labelsText, portsText, userDataOf } from './derive-setting-values.ts';

export type SettingState = 'live' | 'next start' | 'needs restart' | 'pending';
export type SettingId = (typeof SETTINGS)[number]['id'];

export type Setting = {
  readonly id: SettingId | 'other';
  readonly label: string;
  /** Where it stands in the object: messages of the server name it. */
  readonly path: string;
  /** What is set; empty when nothing is. */
  readonly wanted: string;
  /** What the running guest has, where that is something else. */
  readonly running: string | undefined;
  readonly state: SettingState;
};

type Row = {
  readonly id: string;
  readonly label: string;
  readonly path: string;
  /** A change of it reaches the guest, or needs none. */
  readonly isLive?: true;
  /** Nobody fills it in: where nothing is set, the guest has nothing of it. */
  readonly isWhole?: true;
  readonly wanted: (vm: VirtualMachine, spec: VmiSpec) => string;
  /** Not there for what only the machine has. */
  readonly running?: (vmi: VirtualMachineInstance) => string;
};

const TEMPLATE = 'spec.template.spec';
const OF_TYPE = 'by its instance type';

const SETTINGS = [
  { id: 'runStrategy', label: 'Run strategy', path: 'spec.runStrategy', isLive: true, wanted: runStrategyOf },
  { id: 'instancetype', label: 'Instance type', path: 'spec.instancetype', wanted: ({ spec }) => spec.instancetype?.name ?? '' },
  {
    id: 'cpus',
    label: 'Processors',
    path: `${TEMPLATE}.domain.cpu`,
    wanted: (vm, spec) => (hasType(vm) ? OF_TYPE : String(vcpusOf(spec))),
    running: ({ spec }) => String(vcpusOf(spec)),
  },
  {
    id: 'memory',
    label: 'Memory',
    path: `${TEMPLATE}.domain.memory`,
    wanted: (vm, spec) => (hasType(vm) ? OF_TYPE : memoryText(spec)),
    running: ({ spec }) => memoryText(spec),
  },
  {
    id: 'disks',
    isWhole: true,
    label: 'Disks',
    path: `${TEMPLATE}.volumes`,
    wanted: (_, spec) => disksText(spec),
    running: ({ spec }) => disksText(spec),
  },
  {
    id: 'hotplugged',
    label: 'Disks that come and go',
    path: `${TEMPLATE}.volumes`,
    isLive: true,
    wanted: (_, { volumes = [] }) =>
      volumes
        .filter(isHotpluggable)
        .map(({ name }) => name)
        .join(', '),
  },
  {
    id: 'ports',
    isWhole: true,
    label: 'Ports of the guest',
    path: `${TEMPLATE}.domain.devices.interfaces`,
    wanted: (_, spec) => portsText(spec),
    running: ({ spec }) => portsText(spec),
  },
  {
    id: 'cloudInit',
    isWhole: true,
    label: 'Cloud-init user data',
    path: `${TEMPLATE}.volumes`,
    wanted: (_, spec) => userDataOf(spec) ?? '',
    running: ({ spec }) => userDataOf(spec) ?? '',
  },
  {
    id: 'gracePeriod',
    label: 'Grace period (seconds)',
    path: `${TEMPLATE}.terminationGracePeriodSeconds`,
    wanted: (_, spec) => String(spec.terminationGracePeriodSeconds ?? ''),
    running: ({ spec }) => String(spec.terminationGracePeriodSeconds ?? ''),
  },
  {
    id: 'evictionStrategy',
    label: 'When its node is drained',
    path: `${TEMPLATE}.evictionStrategy`,
    wanted: (_, spec) => spec.evictionStrategy ?? '',
    running: ({ spec }) => spec.evictionStrategy ?? '',
  },
  {
    id: 'nodeSelector',
    label: 'Only on nodes with',
    path: `${TEMPLATE}.nodeSelector`,
    wanted: (_, spec) => labelsText(spec.nodeSelector),
    running: ({ spec }) => labelsText(spec.nodeSelector),
  },
  {
    id: 'labels',
    label: 'Labels of the machine',
    path: 'metadata.labels',
    isLive: true,
    wanted: ({ metadata }) => labelsText(metadata.labels),
  },
  {
    id: 'guestLabels',
    label: 'Labels of its instances',
    path: 'spec.template.metadata.labels',
    wanted: ({ spec }) => labelsText(spec.template.metadata?.labels),
  },
] as const satisfies readonly Row[];

/** Every setting, in the order of the page; behind them what else waits for a restart. */
export function deriveConfiguration(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): Setting[] {
  const instance = vmi && !isFinal(vmi) ? vmi : undefined;
  const spec = normaliseVmiSpec(vm.spec.template.spec);
  const told = instance ? fieldsAwaiting(vm) : [];
  const rows = SETTINGS.map((row: Row) => settingFrom(row, { vm, spec, instance, told }));
  const known = (field: string) => SETTINGS.some(({ path }) => isAt(`${TEMPLATE}.${field}`, path) || isAt(`spec.${field}`, path));
  const others = told.filter((field) => !known(field));
  return [
    ...rows,
    ...others.map(
      (field): Setting => ({
        id: 'other',
        label: field,
        path: `${TEMPLATE}.${field}`,
        wanted: 'changed',
        running: 'as it was started',
        state: 'pending',
      }),
    ),
  ];
}

type Seen = {
  readonly vm: VirtualMachine;
  readonly spec: VmiSpec;
  readonly instance: VirtualMachineInstance | undefined;
  readonly told: readonly string[];
};

function settingFrom(row: Row, { vm, spec, instance, told }: Seen): Setting {
  const wanted = row.wanted(vm, spec);
  const running = instance && row.running?.(instance);
  const isOther = running !== undefined && wanted !== running && (wanted !== '' || row.isWhole === true) && wanted !== OF_TYPE;
  const isTold = told.some((field) => (isAt(`${TEMPLATE}.${field}`, row.path) || isAt(`spec.${field}`, row.path)) && !sharesPath(row));
  const isPending = instance !== undefined && !row.isLive && (isOther || isTold || isLabelled(row, vm, instance));
  return {
    id: row.id as SettingId, // the rows are those of the table
    label: row.label,
    path: row.path,
    wanted,
    running: isPending && running !== wanted ? running : undefined,
    state: row.isLive ? 'live' : !instance ? 'next start' : isPending ? 'pending' : 'needs restart',
  };
}

/** Disks and cloud-init stand at one path: which of them it is, their values say. */
function sharesPath({ path, id }: Row): boolean {
  return SETTINGS.filter((each) => each.path === path && each.id !== id).length > 0;
}

/** Instances have labels of others, too: only those of the template count. */
function isLabelled({ id }: Row, { spec }: VirtualMachine, { metadata }: VirtualMachineInstance): boolean {
  if (id !== 'guestLabels') return false;
  return Object.entries(spec.template.metadata?.labels ?? {}).some(([key, value]) => metadata.labels?.[key] !== value);
}

/** What the controller says; of a KubeVirt whose words are others, nothing. */
function fieldsAwaiting(vm: VirtualMachine): string[] {
  const { status, message = '' } = vmCondition(vm, 'RestartRequired') ?? {};
  const [, fields = ''] = status === 'True' ? message.split('wait for a restart: ') : [];
  return fields.split(', ').filter((field) => field !== '');
}

function isAt(field: string, path: string): boolean {
  return field === path || field.startsWith(`${path}.`) || path.startsWith(`${field}.`);
}

function hasType({ spec }: VirtualMachine): boolean {
  return spec.instancetype !== undefined;
}

function memoryText(spec: VmiSpec): string {
  const bytes = guestMemoryBytesOf(spec);
  return bytes === undefined ? '' : formatBytes(bytes);
}

function disksText({ volumes = [] }: VmiSpec): string {
  const started = volumes.filter((volume) => !isHotpluggable(volume));
  return started
    .map((volume) => `${volume.name}: ${imageOf(volume)?.image ?? claimOf(volume)?.claimName ?? sourceNamesOf(volume)[0]}`)
    .join(', ');
}
