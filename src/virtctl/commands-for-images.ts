/** `virtctl image …`: definitions only, each is loaded when it is called. */
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { Context } from './context.ts';
import { off, text } from './parameters.ts';

const name = { ...text, brief: 'Name of an image', placeholder: 'NAME' } as const;
/** One that is there, so a shell can complete it. */
const known = {
  ...name,
  async proposeCompletions(this: Context, partial: string): Promise<readonly string[]> {
    return (await import('./complete/image-names.ts')).imageNames(this, partial);
  },
} as const;
const A_FILE = 'A raw or qcow2 disk, an OCI layout folder, or an archive (docker save, podman save, skopeo)';

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
        { ...known, brief: 'An image that is there', placeholder: 'SOURCE' },
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
      parameters: [{ ...text, brief: A_FILE, placeholder: 'FILE' }, name],
    },
  },
  docs: {
    brief: 'Bring a disk or an image from this machine into the embedded cluster',
    customUsage: ['debian-12.qcow2 localhost/debian:12', 'image.tar quay.io/team/disk:v1'],
  },
});

const push = buildCommand({
  loader: async () => (await import('./commands/image-push.ts')).push,
  parameters: {
    flags: { plainHttp: off('The registry speaks http, not https') },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...known, brief: `${A_FILE}; or the name of an image of the embedded cluster`, placeholder: 'SOURCE' },
        { ...name, brief: 'Its name in a registry: HOST/NAME:TAG', placeholder: 'TARGET' },
      ],
    },
  },
  docs: {
    brief: 'Send a disk or an image to a registry, as a containerDisk for any cluster',
    fullDescription: [
      'Send a disk or an image to a registry, as a containerDisk for any cluster. Neither Docker nor the embedded cluster is needed.',
      'Logins are those of podman and docker: $REGISTRY_AUTH_FILE, $XDG_RUNTIME_DIR/containers/auth.json, $DOCKER_CONFIG/config.json or',
      '~/.docker/config.json. Helpers that keep passwords elsewhere (credsStore, credHelpers) are not run.',
    ].join('\n'),
    customUsage: [
      'debian-12.qcow2 registry.example.com/team/debian:12',
      'localhost/guests/tiny32 10.250.0.1:5000/guests/tiny32:latest --plain-http',
    ],
  },
});

const remove = buildCommand({
  loader: async () => (await import('./commands/image.ts')).remove,
  parameters: { positional: { kind: 'tuple', parameters: [known] } },
  docs: { brief: 'Take a name away; with its last name an image goes', customUsage: ['localhost/debian:12'] },
});

export const image = buildRouteMap({
  routes: { list, tag, import: importFile, push, remove },
  docs: { brief: 'List, import, tag, push and remove the images of the embedded cluster' },
});
