/** cloudInitNoCloud and cloudInitConfigDrive, which say the same in two layouts: one source each for user and network data, readable, and short enough to live in an object. */
import { invalidCause, requiredCause, tooLongCause } from '../../../base/causes.ts';
import { subdomainCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { PodVolume } from '../../core/pod.ts';
import type { SourceData, VolumeSource } from './volume-source.ts';

const MOST_BYTES = 2048;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const cloudInit: VolumeSource<SourceData<'cloudInitNoCloud'>> = {
  validate: (data, at) => [
    ...subdomainCauses(`${at}.secretRef.name`, data.secretRef?.name),
    ...subdomainCauses(`${at}.networkDataSecretRef.name`, data.networkDataSecretRef?.name),
    ...dataCauses(data, at),
  ],
  content: ({ secretRef }) => secretVolume(secretRef?.name),
  networkContent: ({ networkDataSecretRef }) => secretVolume(networkDataSecretRef?.name),
};

function secretVolume(secretName: string | undefined): Omit<PodVolume, 'name'> | undefined {
  return secretName ? { secret: { secretName } } : undefined;
}

function dataCauses(data: SourceData<'cloudInitNoCloud'>, at: string): StatusCause[] {
  const user = [data.userData, data.userDataBase64, data.secretRef?.name].filter(Boolean).length;
  const network = [data.networkData, data.networkDataBase64, data.networkDataSecretRef?.name].filter(Boolean).length;
  const causes: StatusCause[] = [];
  if (user > 1) causes.push(invalidCause(at, 'userData', 'only one of userData, userDataBase64 and secretRef may be set'));
  if (network > 1)
    causes.push(invalidCause(at, 'networkData', 'only one of networkData, networkDataBase64 and networkDataSecretRef may be set'));
  if (user + network === 0)
    causes.push(
      requiredCause(
        at,
        'user data or network data, as userData, userDataBase64, secretRef, networkData, networkDataBase64 or networkDataSecretRef',
      ),
    );
  for (const name of ['userData', 'networkData'] as const) {
    if (new TextEncoder().encode(data[name] ?? '').length > MOST_BYTES) causes.push(tooLong(`${at}.${name}`));
    causes.push(...encodedCauses(`${at}.${name}Base64`, data[`${name}Base64`]));
  }
  return causes;
}

function encodedCauses(field: string, text: string | undefined): StatusCause[] {
  if (!text) return [];
  const plain = text.replaceAll(/\s/g, '');
  if (!BASE64.test(plain)) return [invalidCause(field, text.slice(0, 64), 'must be base64')];
  const bytes = (plain.length / 4) * 3 - (plain.endsWith('==') ? 2 : plain.endsWith('=') ? 1 : 0);
  return bytes > MOST_BYTES ? [tooLong(field)] : [];
}

function tooLong(field: string): StatusCause {
  const { message, ...rest } = tooLongCause(field, MOST_BYTES);
  return { ...rest, message: `${message}; put longer data into a Secret and name it with a secretRef` };
}
