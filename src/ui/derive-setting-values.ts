/** Parts of a machine as lines of text, and back: what people type into a field. Pure. */
import type { VmiSpec, Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { cloudInitLayoutOf } from '../api/kubevirt/volumes/source-of.ts';
import { base64Of, bytesOfBase64 } from '../base/base64.ts';

type Interfaces = NonNullable<VmiSpec['domain']['devices']['interfaces']>;
type Ports = NonNullable<Interfaces[number]['ports']>;
type Labels = Readonly<Record<string, string>>;

/** `app=db, tier=1`, in the order of their keys. */
export function labelsText(labels: Labels = {}): string {
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

/** What is not a label is kept as it is typed: the server says what is wrong with it. */
export function labelsFrom(text: string): Record<string, string> {
  return Object.fromEntries(wordsOf(text).map((word) => [word.split('=')[0] ?? '', word.split('=').slice(1).join('=')]));
}

/** `80, 53/UDP`: of the first network card, as most machines have one. */
export function portsText({ domain }: VmiSpec): string {
  const [first] = domain.devices.interfaces ?? [];
  return (first?.ports ?? []).map(({ port, protocol = 'TCP' }) => (protocol === 'TCP' ? String(port) : `${port}/${protocol}`)).join(', ');
}

/** The cards with these ports on the first; names of ports stay with their numbers. */
export function withPorts(
  { domain, networks }: VmiSpec,
  text: string,
): { interfaces: Interfaces; networks: NonNullable<VmiSpec['networks']> } {
  const [first = { name: 'default', masquerade: {} }, ...others] = domain.devices.interfaces ?? [];
  const names = new Map((first.ports ?? []).map((port) => [`${port.port}/${port.protocol ?? 'TCP'}`, port.name]));
  const ports = wordsOf(text).map((word) => {
    const [number = '', protocol = 'TCP'] = word.split('/');
    const name = names.get(`${number}/${protocol.toUpperCase()}`);
    return { ...(name !== undefined && { name }), port: Number(number), protocol: protocol.toUpperCase() };
  }) as Ports; // the server checks them
  const { ports: _, ...card } = first;
  return {
    interfaces: [{ ...card, ...(ports.length > 0 && { ports }) }, ...others],
    networks: [...(networks ?? [{ name: 'default', pod: {} }])],
  };
}

/** The user data of the cloud-init disk; undefined when there is no such disk, or a Secret has it. */
export function userDataOf({ volumes = [] }: VmiSpec): string | undefined {
  const source = cloudInitOf(volumes);
  if (!source) return undefined;
  return source.userData ?? (source.userDataBase64 === undefined ? undefined : textOf(source.userDataBase64));
}

/** The volumes with this user data in the cloud-init disk; one is added where there is none. */
export function withUserData({ volumes = [], domain }: VmiSpec, userData: string): { volumes: Volume[]; disks: object[] } {
  const disks = [...(domain.devices.disks ?? [])];
  if (!cloudInitOf(volumes)) {
    const name = 'cloudinitdisk';
    return {
      volumes: [...volumes, { name, cloudInitNoCloud: { userDataBase64: inBase64(userData) } }],
      disks: [...disks, { name, disk: { bus: 'virtio' } }],
    };
  }
  const changed = volumes.map((volume) => {
    const layout = cloudInitLayoutOf(volume);
    if (!layout) return volume;
    const key = layout === 'noCloud' ? 'cloudInitNoCloud' : 'cloudInitConfigDrive';
    const { userData: before, userDataBase64: _, ...rest } = volume[key] ?? {};
    return { ...volume, [key]: { ...rest, ...(before === undefined ? { userDataBase64: inBase64(userData) } : { userData }) } };
  });
  return { volumes: changed, disks };
}

function cloudInitOf(volumes: readonly Volume[]) {
  const volume = volumes.find((each) => cloudInitLayoutOf(each) !== undefined);
  return volume?.cloudInitNoCloud ?? volume?.cloudInitConfigDrive;
}

function inBase64(text: string): string {
  return base64Of(new TextEncoder().encode(text));
}

function textOf(base64: string): string {
  try {
    return new TextDecoder().decode(bytesOfBase64(base64));
  } catch {
    return '';
  }
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}
