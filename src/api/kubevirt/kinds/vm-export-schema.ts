/** The schema of a VirtualMachineExport. */
import { list, object, optional, text, time } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';

const linkSchema = (description: string) =>
  object(description, {
    cert: text('PEM: who vouches for the server.'),
    volumes: optional(
      list(
        'The disks.',
        object('One disk.', {
          name: text('Its PVC, as the source calls it.'),
          formats: optional(
            list(
              'How it is served.',
              object('One way.', {
                format: text('raw or gzip; dir or tar.gz where it is no disk.'),
                url: text('Where; the token goes into a header.'),
              }),
            ),
          ),
        }),
      ),
    ),
    manifests: optional(
      list(
        'What makes the same machine elsewhere.',
        object('One of them.', { type: text('all or auth-header-secret.'), url: text('Where; the token goes into a header.') }),
      ),
    ),
  });

export const specSchema = object('What is to be taken away. It never changes.', {
  source: object('What holds the disks.', {
    apiGroup: optional(text('kubevirt.io, snapshot.kubevirt.io for a snapshot, empty or v1 for a PVC.')),
    kind: text('VirtualMachine, VirtualMachineSnapshot or PersistentVolumeClaim.'),
    name: text('Its name, in the same namespace.'),
  }),
  tokenSecretRef: optional(text('A Secret of the same namespace, whose key token opens the links. One is made when not given.')),
  ttlDuration: optional(text('How long it is there, such as 30m; 2h when not given.')),
});

export const statusSchema = object('How far it is. Written by our components alone.', {
  phase: optional(text('Pending, Ready, Terminated or Skipped.')),
  links: optional(
    object('Where the disks are.', {
      internal: optional(linkSchema('For those in the cluster.')),
      external: optional(linkSchema('For those outside of it.')),
    }),
  ),
  tokenSecretRef: optional(text('The Secret with the token.')),
  ttlExpirationTime: optional(time('When it is deleted.')),
  serviceName: optional(text('The Service of its Pod.')),
  virtualMachineName: optional(text('The machine that the disks are of.')),
  conditions: optional(conditionsSchema),
});
