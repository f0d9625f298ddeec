/**
 * What holds a guest on one side of a move, and whether the other side is the same. QEMU itself notices neither another processor nor another accelerator: the
 * guest would go on, and crash at its next instruction that is not there. Nor does it know what is on a disk that was made anew.
 *
 *   the other side has                              then
 *   another accelerator                             refused
 *   another QEMU, by its first two numbers          refused
 *   another processor, and the guest has that       refused
 *   another machine, by the digest of the launcher  refused, when both sides know it
 *   another content of a disk that is made anew     refused, with the disk, when both sides know it
 */
import { readFile } from 'node:fs/promises';
import type { GuestHost } from '../../api/handler/guest-host.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { CONTENTS_FILE } from '../../api/launcher/files.ts';
import { MACHINE_FILE } from '../../api/launcher/suspension.ts';
import { isObject } from '../../base/json.ts';
import { textIn } from '../text-in.ts';

/** A guest without a model of its own has the processor of its node, with KVM. */
const MODELS_OF_THE_NODE = [undefined, 'host-model', 'host-passthrough'];

/** Of the guest whose QEMU is asked, in this folder. */
export async function hostOf(folder: string, ask: (command: string) => Promise<unknown>): Promise<GuestHost> {
  const [version, kvm] = [await ask('query-version'), await ask('query-kvm')];
  const { qemu } = isObject(version) ? version : {};
  const { major, minor } = isObject(qemu) ? qemu : {};
  const hasKvm = isObject(kvm) && kvm['enabled'] === true;
  const machine = (await textIn(folder, MACHINE_FILE))?.trim();
  const processor = hasKvm ? /^model name\s*: (.*)$/m.exec(await readFile('/proc/cpuinfo', 'utf8').catch(() => ''))?.[1] : undefined;
  return {
    qemu: `${major}.${minor}`,
    accelerator: hasKvm ? 'kvm' : 'tcg',
    ...(processor !== undefined && { processor }),
    ...(machine && { machine }),
    contents: contentsIn(await textIn(folder, CONTENTS_FILE)),
  };
}

/** Why a guest of `source` cannot go on at `target`; undefined when it can. */
export function whyUnlike(source: GuestHost, target: GuestHost, { domain }: Pick<VmiSpec, 'domain'>): string | undefined {
  if (source.accelerator !== target.accelerator)
    return `the guest runs with ${source.accelerator}, and QEMU of the other node with ${target.accelerator}`;
  if (source.qemu !== target.qemu) return `the guest runs in QEMU ${source.qemu}, and the other node has ${target.qemu}`;
  if (MODELS_OF_THE_NODE.includes(domain.cpu?.model) && source.processor !== target.processor)
    return `the guest has the processor of its node (${source.processor}), and the other node has ${target.processor}: name a model (spec.domain.cpu.model)`;
  const changed = Object.entries(source.contents).find(([name, digest]) => (target.contents[name] ?? digest) !== digest);
  if (changed)
    return `disk ${changed[0]} would have another content there: what it is made of has changed since the start; restart the machine`;
  if (source.machine !== undefined && target.machine !== undefined && source.machine !== target.machine)
    return 'it would be another machine there, with other devices or another processor: restart the machine';
  return undefined;
}

function contentsIn(text: string | undefined): GuestHost['contents'] {
  try {
    const given: unknown = JSON.parse(text ?? '{}');
    const entries = isObject(given) ? Object.entries(given) : [];
    return Object.fromEntries(entries.filter((each): each is [string, string] => typeof each[1] === 'string').slice(0, 64));
  } catch {
    return {};
  }
}
