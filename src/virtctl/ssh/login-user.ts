/** Who logs in to a guest when nobody is named. */
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_LOGIN_USER } from '../../api/kubevirt/names.ts';
import { UserError } from '../../base/errors.ts';

/** Names that are neither an option of ssh nor a word of a shell: whoever wrote the object is not whoever logs in. */
const USER = /^[A-Za-z_][\w.-]{0,31}$/;

type Machine = { readonly vm?: VirtualMachine | undefined; readonly vmi?: VirtualMachineInstance | undefined };

/** The user that the annotation of the instance, or else of its machine, names. */
export function loginUserOf({ vm, vmi }: Machine): string | undefined {
  const user = vmi?.metadata.annotations?.[ANNOTATION_LOGIN_USER] ?? vm?.metadata.annotations?.[ANNOTATION_LOGIN_USER];
  if (user === undefined || USER.test(user)) return user;
  throw new UserError('LOGIN_USER', `the annotation ${ANNOTATION_LOGIN_USER} names no user`, {
    why: `it is ${JSON.stringify(user.slice(0, 64))}; a name has up to 32 letters, digits, dots, - and _`,
    fix: 'name the user yourself, or change the annotation',
    exitCode: 4,
  });
}
