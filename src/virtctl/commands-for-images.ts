/** `virtctl image …`: definitions only, each is loaded when it is called. */
import { buildCommand, buildRouteMap } from '@stricli/core';
import { text } from './parameters.ts';

const name = { ...text, brief: 'Name of an image', placeholder: 'NAME' } as const;

const list = buildCommand({
  loader: async () => (await import('./commands/image.ts')).list,
  parameters: {},
  docs: { brief: 'List the images of the embedded cluster' },
});

const tag = buildCommand({
  loader: async () => (await import('./commands/image.ts')).tag,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { ...name, brief: 'An image that is there', placeholder: 'SOURCE' },
        { ...name, brief: 'One more name for it, such as the one that a manifest uses', placeholder: 'TARGET' },
      ],
    },
  },
  docs: {
    brief: 'Give an image one more name; it is then never pulled under that name',
    customUsage: ['localhost/guests/tiny32 kubevirt/cirros-container-disk-demo:latest'],
  },
});

const importFile = buildCommand({
  loader: async () => (await import('./commands/image.ts')).importFile,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          ...text,
          brief: 'A raw or qcow2 disk, an OCI layout folder, or an archive (docker save, podman save, skopeo)',
          placeholder: 'FILE',
        },
        name,
      ],
    },
  },
  docs: {
    brief: 'Bring a disk or an image from this machine into the embedded cluster',
    customUsage: ['debian-12.qcow2 localhost/debian:12', 'image.tar quay.io/team/disk:v1'],
  },
});

const remove = buildCommand({
  loader: async () => (await import('./commands/image.ts')).remove,
  parameters: { positional: { kind: 'tuple', parameters: [name] } },
  docs: { brief: 'Take a name away; with its last name an image goes', customUsage: ['localhost/debian:12'] },
});

export const image = buildRouteMap({
  routes: { list, tag, import: importFile, remove },
  docs: { brief: 'List, import, tag and remove the images of the embedded cluster' },
});
