/** Which addresses and ports of a node an embedded cluster gives to Services: the API server gives nothing else, and the proxy serves nothing else. */
import { CLUSTER_DNS_ADDRESS } from './cluster-dns.ts';

export const SERVICE_RANGE = '10.96.0.0/12';
export const FIRST_NODE_PORT = 30_000;
export const NODE_PORTS = 2_768;
export const NODE_PORT_RANGE = `${FIRST_NODE_PORT}-${FIRST_NODE_PORT + NODE_PORTS - 1}`;

/** Of the Service `default/kubernetes`. */
export const API_SERVER_ADDRESS = '10.96.0.1';
/** Addresses that belong to one Service, whether it is there or not. */
export const RESERVED_ADDRESSES: ReadonlyMap<string, string> = new Map([
  [API_SERVER_ADDRESS, 'default/kubernetes'],
  [CLUSTER_DNS_ADDRESS, 'kube-system/kube-dns'],
]);

const FIRST = 10 * 2 ** 24 + 96 * 2 ** 16;
const SIZE = 2 ** 20;
/** The first ones are for Services that somebody chooses an address for. */
const CHOSEN = 256;
/** How many addresses are given to Services that name none. */
export const FREE_ADDRESSES = SIZE - 2 * CHOSEN;

/** The address of this number, from 0 to FREE_ADDRESSES - 1. */
export function freeAddress(index: number): string {
  const address = FIRST + CHOSEN + index;
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}

/** True for an address that a Service may have, written as addresses are written: neither the first nor the last one of the range. */
export function isServiceAddress(text: string): boolean {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return false;
  const offset = parts.reduce((sum, part) => sum * 256 + Number(part), 0) - FIRST;
  return offset > 0 && offset < SIZE - 1;
}

export function isNodePort(port: unknown): port is number {
  return typeof port === 'number' && Number.isInteger(port) && port >= FIRST_NODE_PORT && port < FIRST_NODE_PORT + NODE_PORTS;
}

/** How many ports the Services of one namespace may have, and those of all: one process listens at each of them. */
export const SERVICE_PORTS = { ofOne: 1_000, ofAll: 4_000 } as const;
