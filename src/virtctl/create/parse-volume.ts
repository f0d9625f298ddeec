/** `src:IMAGE,name:NAME,bootorder:N`, or just `IMAGE`, as KubeVirt's virtctl takes it. */
import { UserError } from '../../base/errors.ts';
import type { VolumeChoice } from '../../sdk/manifest/vm.ts';
import { parseParts } from './parse-parts.ts';

const KEYS = ['src', 'name', 'bootorder'];

/** The parts of a volume flag; throws a UserError with what is wrong about it. */
export function parseVolume(text: string): VolumeChoice {
  if (!/(^|,)(src|name|bootorder):/.test(text)) return { source: text };
  const parts = parseParts(text, { keys: KEYS, wrong });
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
