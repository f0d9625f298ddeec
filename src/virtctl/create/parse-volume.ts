/** `src:IMAGE,name:NAME,bootorder:N`, or just `IMAGE`, as KubeVirt's virtctl takes it. */
import { UserError } from '../../base/errors.ts';
import type { VolumeChoice } from './vm.ts';

const KEYS = ['src', 'name', 'bootorder'];

/** The parts of a volume flag; throws a UserError with what is wrong about it. */
export function parseVolume(text: string): VolumeChoice {
  if (!/(^|,)(src|name|bootorder):/.test(text)) return { source: text };
  const parts = new Map<string, string>();
  for (const part of text.split(',')) {
    const colon = part.indexOf(':');
    const key = part.slice(0, Math.max(0, colon));
    if (!KEYS.includes(key)) throw wrong(text, `"${part}" is none of ${KEYS.map((each) => `${each}:VALUE`).join(', ')}`);
    parts.set(key, part.slice(colon + 1));
  }
  const [source, name, order] = KEYS.map((key) => parts.get(key));
  if (!source) throw wrong(text, 'src:VALUE is missing');
  const bootOrder = order === undefined ? undefined : Number(order);
  if (bootOrder !== undefined && !(Number.isInteger(bootOrder) && bootOrder > 0))
    throw wrong(text, `bootorder:${order} is not a number from 1`);
  return { source, ...(name && { name }), ...(bootOrder && { bootOrder }) };
}

function wrong(text: string, why: string): UserError {
  return new UserError('USAGE', `the volume ${text} is not understood`, {
    why,
    fix: 'a volume is IMAGE or CLAIM, or src:VALUE,name:VALUE,bootorder:NUMBER',
    exitCode: 2,
  });
}
