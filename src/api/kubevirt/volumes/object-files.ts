/** configMap, secret, downwardAPI, serviceAccount and sysprep: the files of an object, as the kubelet mounts them into a Pod, on a small disk. */
import { invalidCause, requiredCause, unsupportedCause } from '../../../base/causes.ts';
import { subdomainCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { SourceData, VolumeSource } from './volume-source.ts';

/** The longest that an ISO image can have. */
const LABEL = /^[A-Za-z0-9_.-]{1,32}$/;
/** What the kubelet puts into a volume, of the Pod; it refuses a Pod with any other. */
const FIELD = /^metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['[^']{1,317}'\])$/;
/** A year: longer than a guest should go without an update. It ends with the Pod in any case. */
const TOKEN_SECONDS = 365 * 24 * 3600;
const FILE_KEYS = ['path', 'fieldRef'];
const FIELD_KEYS = ['apiVersion', 'fieldPath'];

export const configMap: VolumeSource<SourceData<'configMap'>> = {
  validate: ({ name, volumeLabel }, at) => [...nameCauses(`${at}.name`, name), ...labelCauses(`${at}.volumeLabel`, volumeLabel)],
  content: ({ name = '', optional }) => ({ configMap: { name, ...(optional !== undefined && { optional }) } }),
};

export const secret: VolumeSource<SourceData<'secret'>> = {
  validate: ({ secretName, volumeLabel }, at) => [
    ...nameCauses(`${at}.secretName`, secretName),
    ...labelCauses(`${at}.volumeLabel`, volumeLabel),
  ],
  content: ({ secretName = '', optional }) => ({ secret: { secretName, ...(optional !== undefined && { optional }) } }),
};

export const downwardAPI: VolumeSource<SourceData<'downwardAPI'>> = {
  validate: ({ fields = [], volumeLabel }, at) => [
    ...fields.flatMap((file, index) => fileCauses(file, `${at}.fields[${index}]`)),
    ...labelCauses(`${at}.volumeLabel`, volumeLabel),
  ],
  content: ({ fields = [] }) => ({
    downwardAPI: { items: fields.map(({ path, fieldRef }) => ({ path, fieldRef: { fieldPath: fieldRef.fieldPath } })) },
  }),
};

/** As every Pod with a token has them. The disk is made once, so the token lasts as long as an API server gives it. */
export const serviceAccount: VolumeSource<SourceData<'serviceAccount'>> = {
  validate: ({ serviceAccountName }, at) => nameCauses(`${at}.serviceAccountName`, serviceAccountName),
  account: ({ serviceAccountName }) => serviceAccountName,
  content: () => ({
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_SECONDS } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  }),
};

export const sysprep: VolumeSource<SourceData<'sysprep'>> = {
  validate: (data, at) => {
    if (data.configMap && data.secret) return [invalidCause(at, 'configMap, secret', 'only one of configMap and secret may be set')];
    if (!data.configMap && !data.secret) return [requiredCause(at, 'the answer files, as configMap or secret')];
    const kind = data.configMap ? 'configMap' : 'secret';
    return nameCauses(`${at}.${kind}.name`, data[kind]?.name);
  },
  content: (data) =>
    data.configMap ? { configMap: { name: data.configMap.name ?? '' } } : { secret: { secretName: data.secret?.name ?? '' } },
};

function nameCauses(field: string, name: string | undefined): StatusCause[] {
  return name ? subdomainCauses(field, name) : [requiredCause(field, 'the object with the files')];
}

function labelCauses(field: string, label: string | undefined): StatusCause[] {
  if (!label || LABEL.test(label)) return [];
  return [invalidCause(field, label.slice(0, 64), 'a label has at most 32 letters, digits, dots, dashes and underscores')];
}

/** Kept as written by the schema, so its shape is checked here. */
function fileCauses(file: Partial<SourceFile>, at: string): StatusCause[] {
  const odd = Object.keys(file).filter((key) => !FILE_KEYS.includes(key));
  const { path, fieldRef } = file as { path?: unknown; fieldRef?: Record<string, unknown> };
  const causes = odd.map((key) => unsupportedCause(`${at}.${key}`, key, FILE_KEYS));
  if (typeof path !== 'string' || path === '') causes.push(requiredCause(`${at}.path`, 'the name of the file'));
  else if (path.startsWith('/') || path.split('/').some((step) => step === '' || step.startsWith('..') || step.length > 103))
    causes.push(invalidCause(`${at}.path`, path.slice(0, 80), 'must be a relative path, without .., of names of at most 103 characters'));
  if (typeof fieldRef !== 'object' || fieldRef === null)
    return [...causes, requiredCause(`${at}.fieldRef`, 'the field of the Pod that the file shows')];
  causes.push(
    ...Object.keys(fieldRef).flatMap((key) =>
      FIELD_KEYS.includes(key) ? [] : [unsupportedCause(`${at}.fieldRef.${key}`, key, FIELD_KEYS)],
    ),
  );
  const { fieldPath } = fieldRef;
  if (typeof fieldPath !== 'string' || !FIELD.test(fieldPath))
    causes.push(
      invalidCause(
        `${at}.fieldRef.fieldPath`,
        String(fieldPath).slice(0, 80),
        "must be metadata.name, namespace, uid, labels or annotations, or one of the last two by its key, as metadata.labels['key']",
      ),
    );
  return causes;
}

type SourceFile = NonNullable<SourceData<'downwardAPI'>['fields']>[number];
