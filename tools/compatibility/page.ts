/** The generated parts of docs/compatibility.md: a table per published type, between two marks. The rest of the page is written by hand. */
import { PUBLISHED_SUBRESOURCES } from '../../src/api/kubevirt/generated/published-types.ts';
import { whyRefused } from '../../src/api/kubevirt/refused-reasons-table.ts';
import type { ComparedField } from '../../src/api/schema/published.ts';
import { ROUTES } from '../../src/virt-api/routes.ts';
import { type SpecName, type StatusName, specFields, statusFields } from './compared.ts';

const SECTIONS: Readonly<Record<string, () => string>> = {
  numbers,
  VirtualMachineInstanceSpec: () => specTable('VirtualMachineInstanceSpec'),
  VirtualMachineSpec: () => specTable('VirtualMachineSpec'),
  KubeVirtSpec: () => specTable('KubeVirtSpec'),
  VirtualMachineStatus: () => statusLines('VirtualMachineStatus'),
  VirtualMachineInstanceStatus: () => statusLines('VirtualMachineInstanceStatus'),
  KubeVirtStatus: () => statusLines('KubeVirtStatus'),
  subresources,
};

/** What is to be known of a field that is honoured in part. */
const NOTES: Readonly<Record<string, string>> = {
  'VirtualMachineInstanceSpec evictionStrategy': '`None` alone; the others come with live migration',
  'VirtualMachineInstanceSpec domain.devices.interfaces': 'one, on the Pod network',
  'VirtualMachineInstanceSpec domain.devices.interfaces[].bridge': 'embedded, the same as masquerade',
  'VirtualMachineInstanceSpec architecture': '`amd64` alone',
  'VirtualMachineInstanceSpec domain.clock.timer.rtc.present': '`true` alone',
  'VirtualMachineInstanceSpec domain.clock.utc': 'without an offset',
  'VirtualMachineInstanceSpec domain.cpu.features[].policy': 'all but `forbid`, which is about the choice of node',
  'VirtualMachineInstanceSpec domain.devices.blockMultiQueue': 'disks on virtio have a queue for each processor anyway',
  'VirtualMachineInstanceSpec domain.devices.disks[].cdrom.tray': '`closed` alone',
  'VirtualMachineInstanceSpec domain.devices.interfaces[].model': '`virtio`, `e1000`, `e1000e`, `rtl8139`',
  'VirtualMachineInstanceSpec domain.devices.panicDevices[].model': '`pvpanic`, which is always there, and `isa`',
  'VirtualMachineInstanceSpec domain.devices.rng': 'there always is one',
  'VirtualMachineInstanceSpec domain.devices.video.type': '`vga`, `virtio`, `bochs`, `cirrus`',
  'VirtualMachineInstanceSpec domain.features.hyperv': 'with KVM; software emulation has none of it',
  'VirtualMachineInstanceSpec domain.firmware.bootloader.bios': 'every guest starts with one',
  'VirtualMachineInstanceSpec domain.ioThreadsPolicy': '`shared` and `auto`',
  'VirtualMachineSpec runStrategy': 'all but `WaitAsReceiver`, which belongs to migration between clusters',
  'KubeVirtSpec configuration.vmRolloutStrategy': '`Stage` alone',
};

/** Fields that the schema has for whoever writes them, and that no component of ours does. */
const UNWRITTEN = [
  'VirtualMachineStatus conditions[].lastProbeTime',
  'VirtualMachineInstanceStatus conditions[].lastProbeTime',
  'KubeVirtStatus conditions[].lastProbeTime',
];

/** The page with its tables made anew. */
export function compatibilityPage(page: string): string {
  return Object.entries(SECTIONS).reduce((text, [name, make]) => withSection(text, name, make()), page);
}

function withSection(page: string, name: string, content: string): string {
  const begin = `<!-- begin generated: ${name} -->\n`;
  const end = `<!-- end generated: ${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/compatibility.md: the marks of the generated section ${name} are not there`);
  return `${page.slice(0, from + begin.length)}${content}${page.slice(to)}`;
}

function numbers(): string {
  const line = (label: string, name: SpecName) => {
    const fields = specFields(name).filter(({ type }) => type);
    const honoured = fields.filter(({ isHonoured }) => isHonoured).length;
    return `| ${label} | ${honoured} | ${fields.length - honoured} |\n`;
  };
  return [
    '| spec of | honoured | refused |\n|---|---|---|\n',
    line('VirtualMachineInstance, and the template in all other kinds', 'VirtualMachineInstanceSpec'),
    line('VirtualMachine', 'VirtualMachineSpec'),
    line('KubeVirt', 'KubeVirtSpec'),
  ].join('');
}

function specTable(name: SpecName): string {
  const rows = specFields(name).map((field) => `| \`${field.path}\` | ${typeOf(field)} | ${verdict(name, field)} |\n`);
  return `| field | type | |\n|---|---|---|\n${rows.join('')}`;
}

function verdict(name: SpecName, { path, type, isHonoured }: ComparedField): string {
  if (!type) return 'ours: an old spelling that is still understood';
  const note = NOTES[`${name} ${path}`];
  if (isHonoured) return note ? `honoured: ${note}` : 'honoured';
  const reason = whyRefused(name, path);
  if (!reason) throw new Error(`src/api/kubevirt/refused-reasons-table.ts: no reason why ${name} ${path} is refused`);
  return `**refused**: ${reason}`;
}

/** Nobody asks for a field of a status, so none is refused: it is written, or it is not. */
function statusLines(name: StatusName): string {
  const published = statusFields(name).filter(({ type }) => type);
  const isWritten = ({ path, isHonoured }: ComparedField) => isHonoured && !UNWRITTEN.some((each) => `${name} ${path}`.startsWith(each));
  const named = (fields: readonly ComparedField[]) => fields.map(({ path }) => `\`${path}\``).join(', ') || 'nothing';
  return `Written: ${named(published.filter(isWritten))}.\n\nNever written: ${named(published.filter((field) => !isWritten(field)))}.\n`;
}

function typeOf({ type = '' }: ComparedField): string {
  return type
    .replace('~', '')
    .replace(/^\[\](.*)/, 'list of $1')
    .replace(/^\{\}(.*)/, 'map of $1');
}

function subresources(): string {
  const served = ROUTES.map(({ resource, subresource }) => `${resource}/${subresource}`).sort();
  const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const missing = PUBLISHED_SUBRESOURCES.filter((name) => !served.includes(name));
  return `Served: ${quoted(served)}.\n\nPublished by KubeVirt and not served: ${quoted(missing) || 'none'}.\n`;
}
