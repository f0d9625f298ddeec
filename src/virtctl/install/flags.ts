/** Flags that install and uninstall share. */
import { numberParser } from '@stricli/core';
import { connection, connectionAliases } from '../parameters.ts';

const { namespace: _, ...ofCluster } = connection;
const { n: __, ...ofAliases } = connectionAliases;

/** Everything is in one namespace, whatever the kubeconfig says. */
export const cluster = ofCluster;
export const aliases = ofAliases;
export const timeout = {
  kind: 'parsed',
  parse: numberParser,
  brief: 'Minutes to wait at each step',
  default: '10',
  placeholder: 'minutes',
} as const;
