/** The name of the derived machine, if it can have one. */
import { UserError } from '../base/errors.ts';

const LONGEST_NAME = 253;
const LONGEST_HOST_NAME = 63;

/** PROTOTYPE-PODNAME. The guest is called by what stands before the first dot, which must not be cut: derived machines would share it. */
export function derivedName(prototype: string, podName: string): string {
  const name = `${prototype}-${podName}`;
  if (name.length > LONGEST_NAME) throw tooLong(name, `it has ${name.length} characters, a name has at most ${LONGEST_NAME}`);
  const host = name.split('.')[0] ?? '';
  if (host.length > LONGEST_HOST_NAME)
    throw tooLong(name, `the guest's host name would have ${host.length} characters, of ${LONGEST_HOST_NAME} that it can have`);
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
    throw new UserError('NAME_INVALID', `the derived machine cannot be called ${name}`, {
      why: 'a name consists of lower case letters, digits, - and .',
      fix: 'name the machine and the Pod so, or give --hostname-override',
      exitCode: 2,
    });
  return name;
}

function tooLong(name: string, why: string): UserError {
  return new UserError('NAME_TOO_LONG', `the derived machine cannot be called ${name}`, {
    why,
    fix: 'give the prototype or the Pod a shorter name, or give --hostname-override',
    exitCode: 2,
  });
}
