/** What every place of the page asks for first; `tools/ui/build.ts` puts them into its first script. */
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { pathOf } from '../api/resource.ts';

export const SESSION_PATH = '/session.json';

export const FIRST_QUESTIONS: readonly string[] = [SESSION_PATH, pathOf(VMS, {}), pathOf(VMIS, {})];
