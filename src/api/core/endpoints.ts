/** Endpoints: what clients knew before there were EndpointSlices. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { EndpointSlice } from './endpoint-slice.ts';

export type EndpointAddress = { readonly ip: string } & Pick<EndpointSlice['endpoints'][number], 'hostname' | 'nodeName' | 'targetRef'>;
export type EndpointSubset = {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
};
export type Endpoints = KubeObject & { readonly kind: 'Endpoints'; readonly subsets?: readonly EndpointSubset[] };

export const ENDPOINTS: Resource<Endpoints> = { group: '', version: 'v1', plural: 'endpoints', kind: 'Endpoints', isNamespaced: true };
