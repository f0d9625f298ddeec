/** Flags of the commands that make a machine. */
import { numberParser } from '@stricli/core';

export const DEFAULT_MEMORY = '512Mi';
export const cpus = {
  kind: 'parsed',
  parse: numberParser,
  brief: 'Processors of the guest',
  optional: true,
  placeholder: 'count',
} as const;
