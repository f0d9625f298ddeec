/** `virtctl image import`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { optionalText, text } from '../../../parameters.ts';
import { A_FILE, name } from '../parameters.ts';

export const definition = defineCommand({
  help: { rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      digest: { ...optionalText, brief: 'What the file at the address has to be: sha256:HEX or sha512:HEX', placeholder: 'digest' },
    },
    positional: {
      kind: 'tuple',
      parameters: [{ ...text, brief: `${A_FILE}; or the address of a disk, or oci://IMAGE`, placeholder: 'SOURCE' }, name],
    },
  },
  docs: {
    brief: 'Bring a disk or an image from this machine or an address into the embedded cluster',
    fullDescription: [
      'Bring a disk or an image from this machine, from an address (https://...) or from a registry (oci://...) into the embedded cluster. Disks may be',
      'compressed with gzip, xz or zstd; VMDK and VHDX are converted; of a machine as OVA the first disk is taken. A download that was interrupted resumes;',
      'docs/images.md says what is kept, and for how long.',
    ].join('\n'),
    customUsage: [
      'debian-12.qcow2 localhost/debian:12',
      'https://images.example.com/web.raw.xz localhost/web:1',
      'image.tar quay.io/team/disk:v1',
      'oci://quay.io/containerdisks/debian:12 localhost/debian:12',
    ],
  },
});
