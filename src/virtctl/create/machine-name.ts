/** The name of a machine, checked before anything is named after it. */
import { UserError } from '../../base/errors.ts';

/** Everything that is made for a machine carries its name as a label. */
const MOST = 63;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The name as it was said; a UserError with one that would do. `flag` is empty where the name stands by itself. */
export function parseMachineName(flag: string, said: string): string {
  if (NAME.test(said) && said.length <= MOST) return said;
  const near = said
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MOST)
    .replace(/^-+|-+$/g, '');
  const at = flag === '' ? '' : `${flag} `;
  throw new UserError('USAGE', `${at}${said} cannot be the name of a machine`, {
    why: said.length > MOST ? `it has more than ${MOST} characters` : 'names have lower case letters, digits and - between them',
    fix: `${at}${near || 'my-vm'}`,
    exitCode: 2,
  });
}
