/** Flags of the commands that make a machine. */
import { numberParser } from '@stricli/core';
import { text } from '../parameters.ts';

export const memory = { ...text, brief: 'Memory of the guest', default: '512Mi', placeholder: 'amount' } as const;
export const cpus = {
  kind: 'parsed',
  parse: numberParser,
  brief: 'Processors of the guest',
  optional: true,
  placeholder: 'count',
} as const;
