/** What an instance type says: how big a machine is, and what it needs of its node. Shared by both kinds of instance types. */
import { boolean, foreign, integer, mapOf, object, optional, quantity, type Static, text } from '../../schema/dsl.ts';

type Device = { readonly name: string };

export const instancetypeSpecSchema = object('How big machines of this type are.', {
  cpu: object('Processors.', {
    guest: integer('How many the guest sees; a preference may say how they are arranged.', { minimum: 1, format: 'int64' }),
    model: optional(text('The processor that the guest sees.')),
    dedicatedCPUPlacement: optional(boolean('Real processors for this machine alone.')),
    isolateEmulatorThread: optional(boolean('One more of them for QEMU itself.')),
    maxSockets: optional(integer('How many sockets there may be while the guest runs.', { format: 'int64' })),
    numa: optional(foreign<object>('How memory lies beside the processors.')),
    realtime: optional(foreign<object>('For guests that must answer in time.')),
  }),
  memory: object('Memory.', {
    guest: quantity('How much the guest sees.'),
    hugepages: optional(object('Larger pages.', { pageSize: optional(text('Their size.')) })),
    maxGuest: optional(quantity('How much there may be while the guest runs.')),
    overcommitPercent: optional(integer('How much less than that the Pod asks of its node, in percent.', { minimum: 0, maximum: 100 })),
  }),
  annotations: optional(mapOf('Annotations of the instances.', text('The value.'))),
  gpus: optional(foreign<Device[]>('Graphics processors of the node.', 'array')),
  hostDevices: optional(foreign<Device[]>('Other devices of the node.', 'array')),
  ioThreads: optional(object('Threads for disks.', { supplementalPoolThreadCount: optional(integer('How many of them are shared.')) })),
  ioThreadsPolicy: optional(text('Threads for disks on virtio, as in a machine.')),
  launchSecurity: optional(foreign<object>('Memory that the host cannot read.')),
  nodeSelector: optional(mapOf('Labels that the node must have.', text('The value.'))),
  schedulerName: optional(text('Another scheduler than the default one.')),
});

export type InstancetypeSpec = Static<typeof instancetypeSpecSchema>;
