/** `virtctl adm`: a group of commands, each in a folder of its own. */
import { defineGroup } from '../../define-command.ts';

export const definition = defineGroup({ help: { group: 'cluster', rank: 3 }, docs: { brief: 'Look after an installation' } });
