/** Flags of the commands that make a machine. */
import { numberParser } from '@stricli/core';
import { text } from '../parameters.ts';

export const DEFAULT_MEMORY = '512Mi';
export const DEFAULT_DISK = '10Gi';
export const memory = { ...text, brief: 'Memory of the guest', default: DEFAULT_MEMORY, placeholder: 'amount' } as const;
export const cpus = {
  kind: 'parsed',
  parse: numberParser,
  brief: 'Processors of the guest',
  optional: true,
  placeholder: 'count',
} as const;
