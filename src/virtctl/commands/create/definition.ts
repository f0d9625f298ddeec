/** `virtctl create`: a group of commands, each in a folder of its own. */
import { defineGroup } from '../../define-command.ts';

export const definition = defineGroup({ help: { group: 'machines', rank: 13 }, docs: { brief: 'Write manifests' } });
