/** What the commands of this group that write a file are called with. */
import { off, optionalText } from '../../parameters.ts';

const WITHOUT_EFFECT = "Without effect: KubeVirt's virtctl needs it, here the dump comes through the API";

export const downloadFlags = {
  output: { ...optionalText, brief: 'The file to write the dump to', placeholder: 'file' },
  format: { ...optionalText, brief: 'gzip (a tar.gz) or raw (a tar) (default: gzip)', placeholder: 'format' },
  portForward: off(WITHOUT_EFFECT),
  localPort: { ...optionalText, brief: WITHOUT_EFFECT, placeholder: 'port' },
} as const;
