/** `virtctl credentials`: a group of commands, each in a folder of its own. */
import { defineGroup } from '../../define-command.ts';

export const definition = defineGroup({ help: { group: 'guest', rank: 9 }, docs: { brief: 'Change the keys and passwords of a guest' } });
