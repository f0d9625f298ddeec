/** `src:IMAGE,name:NAME,bootorder:N`, or just `IMAGE`, as KubeVirt's virtctl takes it. */
import type { VolumeChoice } from './machine.ts';

const KEYS = ['src', 'name', 'bootorder'];

/** The parts of a volume flag; throws with what is wrong about it. */
export function parseVolume(text: string): VolumeChoice {
  if (!/(^|,)(src|name|bootorder):/.test(text)) return { source: text };
  const parts = new Map<string, string>();
  for (const part of text.split(',')) {
    const colon = part.indexOf(':');
    const key = part.slice(0, Math.max(0, colon));
    if (!KEYS.includes(key)) throw new Error(`"${part}" is none of ${KEYS.map((each) => `${each}:VALUE`).join(', ')}`);
    parts.set(key, part.slice(colon + 1));
  }
  const [source, name, order] = KEYS.map((key) => parts.get(key));
  if (!source) throw new Error('src:VALUE is missing');
  const bootOrder = order === undefined ? undefined : Number(order);
  if (bootOrder !== undefined && !(Number.isInteger(bootOrder) && bootOrder > 0))
    throw new Error(`bootorder:${order} is not a number from 1`);
  return { source, ...(name && { name }), ...(bootOrder && { bootOrder }) };
}
