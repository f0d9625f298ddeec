/** What a guest is made of: the spec of a VirtualMachineInstance and of the template in a VirtualMachine. */
import type { Affinity } from '../core/affinity.ts';
import type { HttpGetAction, PodDnsConfig, Probe, Toleration, TopologySpreadConstraint } from '../core/pod.ts';
import { boolean, foreign, integer, list, listBy, mapOf, object, oneOf, optional, quantity, type Static, text } from '../schema/dsl.ts';
import { chassisSchema, clockSchema, cpuFeatureSchema, featuresSchema } from './vmi-board-schema.ts';
import { volumeSchema } from './volumes/volume-schema.ts';

const BUSES = ['virtio', 'sata', 'scsi', 'usb'] as const;

const WATCHDOG_ACTIONS = ['poweroff', 'reset', 'shutdown'] as const;

const diskSchema = object('A device that shows a volume to the guest.', {
  name: text('The name of the volume that this device shows, unless volumeName says another.'),
  volumeName: optional(text('The volume, when its name differs from that of the device. An old spelling that is still understood.')),
  disk: optional(
    object('Show the volume as a disk. This is what a device without any of disk, cdrom and lun is.', {
      bus: optional(oneOf('How the disk is attached.', BUSES)),
      readonly: optional(boolean('The guest may read but not write.')),
      pciAddress: optional(text('Its place on the root bus, such as 0000:00:10.0. For the bus virtio.')),
    }),
  ),
  cdrom: optional(
    object('Show the volume as a CD-ROM drive.', {
      bus: optional(oneOf('How the drive is attached.', BUSES)),
      readonly: optional(boolean('Always true for a drive; accepted for compatibility.')),
      tray: optional(oneOf('The disc is in the drive.', ['closed'])),
    }),
  ),
  lun: optional(
    object('Pass SCSI commands of the guest on to the disk, which is a SCSI device on the node: a PVC with volumeMode Block.', {
      bus: optional(oneOf('How it is attached.', ['scsi'])),
      readonly: optional(boolean('The guest may read but not write.')),
    }),
  ),
  serial: optional(text('A serial number that the guest can read.', { maxLength: 256 })),
  bootOrder: optional(integer('Disks and network cards are tried for booting from the lowest number up.', { minimum: 1 })),
  tag: optional(text('A word by which the guest finds the disk in the metadata of its config drive.', { maxLength: 64 })),
  cache: optional(oneOf('How the host caches writes.', ['none', 'writethrough', 'writeback'])),
  shareable: optional(
    boolean(
      'Other machines may write to the disk of this PVC at the same time. Their guests must know how: a file system of one machine would be ruined.',
    ),
  ),
  io: optional(
    oneOf('How the host reads and writes: by threads, or (without a cache) by the asynchronous calls of Linux.', ['native', 'threads']),
  ),
  errorPolicy: optional(
    oneOf(
      'What happens when the host cannot read or write: the guest is stopped, or told, or nobody hears of it; enospace stops it for a full disk alone.',
      ['stop', 'ignore', 'report', 'enospace'],
    ),
  ),
  blockSize: optional(
    object('Sizes that the guest is told.', {
      custom: optional(
        object('Powers of two from 512 to 2097152.', {
          logical: integer('The least that can be read or written.', { minimum: 512, maximum: 2_097_152 }),
          physical: integer('What the hardware would read or write.', { minimum: 512, maximum: 2_097_152 }),
          discardGranularity: optional(integer('The least that can be given back.', { minimum: 0 })),
        }),
      ),
      matchVolume: optional(
        object('The sizes of what the volume lies on: of its block device, or of the blocks of its file system.', {
          enabled: optional(boolean('True when not given.')),
        }),
      ),
    }),
  ),
  dedicatedIOThread: optional(boolean('A thread of its own for this disk. For the bus virtio.')),
});

const interfaceSchema = object('A network card.', {
  name: text('The network of this name is what the card is plugged into.'),
  model: optional(oneOf('Which card the guest sees.', ['virtio', 'e1000', 'e1000e', 'rtl8139'])),
  bootOrder: optional(integer('Its turn among the devices that are tried for booting, by PXE.', { minimum: 1 })),
  pciAddress: optional(text('Its place on the root bus, such as 0000:00:10.0.')),
  acpiIndex: optional(integer('The number by which guests that name cards after their firmware name it.', { minimum: 1, maximum: 16_383 })),
  state: optional(oneOf('The cable is plugged in.', ['up'])),
  tag: optional(text('A word by which the guest finds the card in the metadata of its config drive.', { maxLength: 64 })),
  macAddress: optional(text('The hardware address; one is made up, and kept, when it is not given.')),
  bridge: optional(object('Hand the address of the Pod to the guest. Embedded, this is the same as masquerade.', {})),
  masquerade: optional(object('Put the guest behind the address of its Pod.', {})),
  ports: optional(
    list(
      'Ports of the guest that the network may reach.',
      object('One port.', {
        name: optional(text('A name for Services to refer to.')),
        port: integer('The number.', { minimum: 1, maximum: 65535 }),
        protocol: optional(oneOf('TCP when not given.', ['TCP', 'UDP'])),
      }),
    ),
  ),
  portRanges: optional(
    list(
      'Ranges of such ports.',
      object('From one port to another.', {
        start: integer('The first.', { minimum: 1, maximum: 65535 }),
        end: optional(integer('The last; the first one alone when not given.', { minimum: 1, maximum: 65535 })),
        protocol: optional(oneOf('TCP when not given.', ['TCP', 'UDP'])),
      }),
      { maxItems: 64 },
    ),
  ),
});

export const domainSchema = object('The virtual hardware.', {
  cpu: optional(
    object('Processors. Their number is cores x sockets x threads.', {
      cores: optional(integer('Cores in each socket.', { minimum: 1 })),
      sockets: optional(integer('Sockets.', { minimum: 1 })),
      threads: optional(integer('Threads in each core.', { minimum: 1 })),
      maxSockets: optional(integer('The most sockets that it may be given. None is plugged in while the guest runs.', { minimum: 1 })),
      model: optional(text('The processor that the guest sees; the most capable one of the host when not given.')),
      features: optional(list('Features of the processor, one by one.', cpuFeatureSchema, { maxItems: 256 })),
    }),
  ),
  memory: optional(
    object('Memory of the guest.', {
      guest: optional(quantity('How much the guest sees; the memory request when not given.')),
      maxGuest: optional(quantity('The most that it may be given. None is plugged in while the guest runs.')),
      reservedOverhead: optional(
        object('Memory beside that of the guest.', {
          addedOverhead: optional(quantity('How much more the Pod asks for than QEMU is known to need.')),
          memLock: optional(oneOf('Memory of guests is not locked.', ['NotRequired'])),
        }),
      ),
    }),
  ),
  machine: optional(object('The board.', { type: optional(text('A machine type such as q35; the default when empty.')) })),
  firmware: optional(
    object('What the guest can read about its machine.', {
      uuid: optional(text('The identity of the machine. Kept for the life of a VirtualMachine.')),
      serial: optional(text('The serial number of the machine.')),
      kernelBoot: optional(
        object('A kernel to start the guest with, instead of what is on its disks.', {
          kernelArgs: optional(text('What the kernel is told.', { maxLength: 2048 })),
          container: optional(
            object('A container image that has it.', {
              image: text('The image.'),
              imagePullPolicy: optional(oneOf('When to fetch the image.', ['Always', 'IfNotPresent', 'Never'])),
              imagePullSecret: optional(text('A Secret with the credentials for its registry.')),
              kernelPath: optional(text('The kernel in the image, such as /boot/vmlinuz.')),
              initrdPath: optional(text('Its initial file system in the image.')),
            }),
          ),
        }),
      ),
      bootloader: optional(
        object('What starts the guest.', {
          bios: optional(
            object('A BIOS. It is what every guest has.', {
              useSerial: optional(boolean('True shows what it prints on the serial console, too.')),
            }),
          ),
        }),
      ),
    }),
  ),
  chassis: optional(chassisSchema),
  clock: optional(clockSchema),
  features: optional(featuresSchema),
  ioThreadsPolicy: optional(
    oneOf('Threads for disks on virtio: one for all of them, or up to two for each processor.', ['shared', 'auto']),
  ),
  rebootPolicy: optional(
    oneOf('Terminate ends the instance when the guest reboots, so that a VirtualMachine starts it anew from its template.', [
      'Reboot',
      'Terminate',
    ]),
  ),
  resources: optional(
    object('What the Pod asks of its node.', {
      requests: optional(mapOf('What is set aside: memory, cpu.', quantity('An amount.'))),
      limits: optional(mapOf('What may at most be used.', quantity('An amount.'))),
      overcommitGuestOverhead: optional(boolean('True leaves what QEMU needs beside the memory of the guest out of the requests.')),
    }),
  ),
  devices: object('Disks, network cards and the like.', {
    disks: optional(listBy('Disks and drives.', diskSchema, ['name'], { maxItems: 256 })),
    interfaces: optional(listBy('Network cards.', interfaceSchema, ['name'], { maxItems: 256 })),
    autoattachPodInterface: optional(boolean('False gives a guest without any network card when none is listed.')),
    autoattachSerialConsole: optional(boolean('False leaves out the serial console.')),
    autoattachGraphicsDevice: optional(boolean('False leaves out the graphics card and the VNC console.')),
    logSerialConsole: optional(boolean('False keeps no log of the serial console: what is printed while nobody looks is lost.')),
    autoattachMemBalloon: optional(boolean('False leaves out the balloon, which gives free memory back to the host.')),
    autoattachInputDevice: optional(boolean('True adds a tablet when no input device is listed.')),
    rng: optional(object('Give the guest a source of randomness.', {})),
    watchdog: optional(
      object('A device that the guest has to speak to again and again. When it falls silent, the action is taken.', {
        name: text('A name for the device.'),
        i6300esb: optional(
          object('An Intel 6300ESB, a PCI card.', {
            action: optional(
              oneOf('reset when not given. poweroff ends the instance as Failed, shutdown presses the power button.', WATCHDOG_ACTIONS),
            ),
          }),
        ),
      }),
    ),
    inputs: optional(
      list(
        'Pointing devices beside the mouse that every guest has.',
        object('A device that knows where on the screen it points.', {
          name: text('A name for it.'),
          type: oneOf('A tablet.', ['tablet']),
          bus: optional(oneOf('How it is attached; usb when not given.', ['usb', 'virtio'])),
        }),
        { maxItems: 8 },
      ),
    ),
    filesystems: optional(
      listBy(
        'Folders that the guest shares with the host of its volume.',
        object('One folder; the guest mounts it by its name: mount -t virtiofs NAME /mnt.', {
          name: text('The volume, a PVC in Filesystem mode, and what the guest mounts it by.'),
          virtiofs: object('By virtiofs, the only way there is.', {}),
        }),
        ['name'],
        { maxItems: 8 },
      ),
    ),
    sound: optional(
      object('A sound card. Nobody hears it; programs that want one find it.', {
        name: text('A name for it.'),
        model: optional(oneOf('Which card; ich9 when not given.', ['ich9', 'ac97'])),
      }),
    ),
    video: optional(
      object('The graphics card.', { type: optional(oneOf('Which card; vga when not given.', ['vga', 'virtio', 'bochs', 'cirrus'])) }),
    ),
    panicDevices: optional(
      list(
        'Ways in which the guest says that it panicked. There always is a pvpanic.',
        object('One device.', { model: optional(oneOf('Which device.', ['isa', 'pvpanic'])) }),
        { maxItems: 4 },
      ),
    ),
    networkInterfaceMultiqueue: optional(boolean('True asks for a queue for each processor. Cards on the Pod network have one.')),
    useVirtioTransitional: optional(boolean('True makes virtio devices that guests older than Linux 3.14 know, too.')),
    disableHotplug: optional(boolean('True leaves out the ports for devices that are plugged in while the guest runs.')),
    blockMultiQueue: optional(boolean('True gives disks on virtio a queue for each processor; they have as many anyway.')),
  }),
});

const credentialSourceSchema = object('Where it comes from.', {
  secret: optional(object('A Secret of the same namespace.', { secretName: text('Its name.') })),
});

const accessCredentialSchema = object('Keys or passwords, from a Secret. It has exactly one kind.', {
  sshPublicKey: optional(
    object('Public keys for ssh: every value of the Secret is one.', {
      source: credentialSourceSchema,
      propagationMethod: object('How they get into the guest. Exactly one.', {
        noCloud: optional(object('By cloud-init, at the first start; needs a cloudInitNoCloud volume.', {})),
        configDrive: optional(object('By cloud-init, at the first start; needs a cloudInitConfigDrive volume.', {})),
        qemuGuestAgent: optional(
          object('By the guest agent, again whenever the Secret changes. It owns the authorized_keys of these users.', {
            users: list('Users in the guest.', text('A name.')),
          }),
        ),
      }),
    }),
  ),
  userPassword: optional(
    object('Passwords: keys of the Secret are users, values their passwords.', {
      source: credentialSourceSchema,
      propagationMethod: object('How they get into the guest.', {
        qemuGuestAgent: optional(object('By the guest agent, again whenever the Secret changes.', {})),
      }),
    }),
  ),
});

const probeSchema = object('A question that is asked of the guest again and again. It has exactly one way to ask.', {
  httpGet: optional(
    foreign<HttpGetAction>('Ask a web server in the guest; any status from 200 to 399 is a yes. As for Pods, with the port as a number.'),
  ),
  tcpSocket: optional(
    foreign<NonNullable<Probe['tcpSocket']>>(
      'Connect to a port of the guest; a yes when the guest takes the connection. The port is a number.',
    ),
  ),
  exec: optional(
    object('Run a program in the guest, by its agent; a yes when it leaves with 0.', {
      command: optional(list('The program and its arguments; there is no shell.', text('A word.'), { maxItems: 256 })),
    }),
  ),
  guestAgentPing: optional(object('Ask the agent in the guest whether it is there; a yes when it answers.', {})),
  initialDelaySeconds: optional(
    integer('How long the first question waits, from ten seconds after the start; 0 when not given.', { minimum: 0 }),
  ),
  timeoutSeconds: optional(integer('How long an answer may take; 1 when not given.', { minimum: 0 })),
  periodSeconds: optional(integer('How often to ask; 10 when not given.', { minimum: 0 })),
  successThreshold: optional(integer('How many answers in a row make a yes; 1 when not given.', { minimum: 0 })),
  failureThreshold: optional(integer('How many silences in a row make a no; 3 when not given.', { minimum: 0 })),
});

const networkSchema = object('Something a network card can be plugged into.', {
  name: text('What interfaces refer to.'),
  pod: optional(
    object('The network that Pods are on.', { vmNetworkCIDR: optional(text('The guest side of masquerade; 10.0.2.0/24 when not given.')) }),
  ),
});

export const vmiSpecSchema = object('What the guest is made of and how it is run.', {
  architecture: optional(oneOf('The processors of the node; there is amd64 alone.', ['amd64'])),
  domain: domainSchema,
  volumes: optional(listBy('Sources of data for the disks.', volumeSchema, ['name'], { maxItems: 256 })),
  networks: optional(listBy('What the network cards are plugged into.', networkSchema, ['name'], { maxItems: 256 })),
  hostname: optional(text('The name the guest is told; the name of the instance up to the first dot when not given.')),
  subdomain: optional(text('The domain part of that name inside the cluster.')),
  terminationGracePeriodSeconds: optional(
    integer('How long the guest has to shut down before it is cut off; 30 when not given.', { minimum: 0, format: 'int64' }),
  ),
  startStrategy: optional(oneOf('Paused starts the guest with its processors stopped.', ['Paused'])),
  accessCredentials: optional(list('Keys and passwords for the users of the guest.', accessCredentialSchema, { maxItems: 256 })),
  readinessProbe: optional(probeSchema),
  livenessProbe: optional(probeSchema),
  nodeSelector: optional(mapOf('Labels that the node must have.', text('The value.'))),
  affinity: optional(foreign<Affinity>('Finer rules for the choice of node, as for Pods.')),
  tolerations: optional(foreign<readonly Toleration[]>('Taints that the Pod puts up with, as for Pods.', 'array')),
  schedulerName: optional(text('Another scheduler than the default one.')),
  topologySpreadConstraints: optional(
    foreign<readonly TopologySpreadConstraint[]>('How its Pod is spread over nodes and zones, as for Pods.', 'array'),
  ),
  serviceAccountName: optional(text('The service account of the Pod. It brings Secrets for registries, and no token.')),
  dnsPolicy: optional(
    oneOf('Whose name servers and search domains the Pod has, and with it the guest.', [
      'ClusterFirst',
      'ClusterFirstWithHostNet',
      'Default',
      'None',
    ]),
  ),
  dnsConfig: optional(foreign<PodDnsConfig>('Name servers and search domains beside those of the policy, as for Pods.')),
  priorityClassName: optional(text('The priority of the Pod.')),
  evictionStrategy: optional(
    oneOf(
      'What to do when the node is drained: None has the Pod evicted, LiveMigrate has the machine moved and keeps the node from being empty while it cannot be, LiveMigrateIfPossible has it moved where it can be, External leaves it to somebody else. That of the installation when it is not set.',
      ['None', 'LiveMigrateIfPossible', 'LiveMigrate', 'External'],
    ),
  ),
});

export type VmiSpec = Static<typeof vmiSpecSchema>;
export type Volume = Static<typeof volumeSchema>;
export type Disk = Static<typeof diskSchema>;
export type Domain = VmiSpec['domain'];
export type Interface = Static<typeof interfaceSchema>;
