/** DataVolume, and the templates for some that a machine has: what must be true of them beyond their schema. */
import { forbiddenCause, invalidCause, requiredCause, tooManyCause, unsupportedCause } from '../../base/causes.ts';
import { subdomainCauses } from '../../base/dns-name-causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { parseQuantity } from '../../base/quantity.ts';

const SOURCES = ['http', 'registry', 'upload', 'blank', 'pvc', 'snapshot'];
const CLAIM_FIELDS = ['accessModes', 'volumeMode', 'storageClassName', 'resources'];
const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];
const CHECKSUMS: Readonly<Record<string, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };
/** As many as a machine may have volumes, one of which uses each. */
const MOST_TEMPLATES = 256;
/** The file system of a smaller PVC would leave no room for a disk. */
const LEAST_BYTES = 2 ** 20;

/** Every reason to refuse a DataVolume. */
export function validateDataVolume({ metadata, spec }: JsonObject): StatusCause[] {
  const namespace = isObject(metadata) ? metadata['namespace'] : undefined;
  return specCauses(spec, 'spec', namespace);
}

/** Every reason to refuse the templates of a machine. */
export function dataVolumeTemplateCauses({ metadata, spec }: JsonObject): StatusCause[] {
  if (!isObject(spec) || !Array.isArray(spec['dataVolumeTemplates'])) return [];
  const namespace = isObject(metadata) ? metadata['namespace'] : undefined;
  const templates: readonly unknown[] = spec['dataVolumeTemplates'];
  if (templates.length > MOST_TEMPLATES) return [tooManyCause('spec.dataVolumeTemplates', templates.length, MOST_TEMPLATES)];
  const used = namesUsedBy(spec);
  const names = templates.map(nameOf);
  return templates.flatMap((template, index) => {
    const at = `spec.dataVolumeTemplates[${index}]`;
    const name = names[index];
    if (!isObject(template)) return [requiredCause(at, 'the DataVolume that is made')];
    const said = isObject(template['metadata']) ? template['metadata']['namespace'] : undefined;
    return [
      ...(name ? subdomainCauses(`${at}.metadata.name`, name) : [requiredCause(`${at}.metadata.name`, 'how the DataVolume is called')]),
      ...(name && names.indexOf(name) < index ? [invalidCause(`${at}.metadata.name`, name, 'another template has this name')] : []),
      ...(name && !used.has(name) ? [invalidCause(at, name, 'no volume of the template uses it')] : []),
      ...(said !== undefined && namespace !== undefined && said !== namespace
        ? [invalidCause(`${at}.metadata.namespace`, said, 'must be that of the machine')]
        : []),
      ...specCauses(template['spec'], `${at}.spec`, namespace),
    ];
  });
}

function nameOf(template: unknown): string | undefined {
  const metadata = isObject(template) ? template['metadata'] : undefined;
  return isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : undefined;
}

function namesUsedBy({ template }: JsonObject): ReadonlySet<unknown> {
  const inner = isObject(template) && isObject(template['spec']) ? template['spec'] : {};
  const volumes = Array.isArray(inner['volumes']) ? inner['volumes'].filter(isObject) : [];
  return new Set(
    volumes.flatMap(({ dataVolume, persistentVolumeClaim }) => [
      ...(isObject(dataVolume) ? [dataVolume['name']] : []),
      ...(isObject(persistentVolumeClaim) ? [persistentVolumeClaim['claimName']] : []),
    ]),
  );
}

function specCauses(spec: unknown, at: string, namespace: unknown): StatusCause[] {
  if (!isObject(spec)) return [requiredCause(at, 'what it holds and how large it is')];
  const { pvc, storage, source } = spec;
  const isCopy = isObject(source) && (source['pvc'] !== undefined || source['snapshot'] !== undefined);
  return [
    ...(pvc !== undefined && storage !== undefined ? [forbiddenCause(`${at}.pvc`, 'pvc and storage exclude each other')] : []),
    ...(pvc === undefined && storage === undefined ? [requiredCause(`${at}.storage`, 'how large it is, or pvc')] : []),
    ...(pvc === undefined ? [] : claimCauses(pvc, `${at}.pvc`, { needsSize: true })),
    ...(storage === undefined ? [] : claimCauses(storage, `${at}.storage`, { needsSize: !isCopy })),
    ...sourceCauses(source, `${at}.source`, namespace),
  ];
}

function claimCauses(claim: unknown, at: string, { needsSize }: { needsSize: boolean }): StatusCause[] {
  if (!isObject(claim)) return [invalidCause(at, claim, 'must be a PVC')];
  const { accessModes, volumeMode, storageClassName, resources } = claim;
  const modes = Array.isArray(accessModes) ? accessModes : [];
  const unknown = Object.keys(claim).filter((field) => !CLAIM_FIELDS.includes(field));
  return [
    ...unknown.map((field) => forbiddenCause(`${at}.${field}`, `of a PVC ${CLAIM_FIELDS.join(', ')} can be asked for`)),
    ...(accessModes === undefined || Array.isArray(accessModes) ? [] : [invalidCause(`${at}.accessModes`, accessModes, 'must be a list')]),
    ...modes
      .filter((mode) => !ACCESS_MODES.includes(mode as string))
      .map((mode) => unsupportedCause(`${at}.accessModes`, mode, ACCESS_MODES)),
    ...(volumeMode === undefined || volumeMode === 'Filesystem' ? [] : [unsupportedCause(`${at}.volumeMode`, volumeMode, ['Filesystem'])]),
    ...(storageClassName === undefined || typeof storageClassName === 'string'
      ? []
      : [invalidCause(`${at}.storageClassName`, storageClassName, 'must be the name of a class')]),
    ...sizeCauses(resources, `${at}.resources.requests.storage`, needsSize),
  ];
}

function sizeCauses(resources: unknown, at: string, needsSize: boolean): StatusCause[] {
  const requests = isObject(resources) && isObject(resources['requests']) ? resources['requests'] : {};
  const storage = requests['storage'];
  if (storage === undefined) return needsSize ? [requiredCause(at, 'how large it is')] : [];
  const bytes = typeof storage === 'string' || typeof storage === 'number' ? parseQuantity(storage) : undefined;
  return bytes !== undefined && bytes >= LEAST_BYTES ? [] : [invalidCause(at, storage, 'must be an amount of at least 1Mi')];
}

function sourceCauses(source: unknown, at: string, namespace: unknown): StatusCause[] {
  const found = isObject(source) ? SOURCES.filter((name) => source[name] !== undefined) : [];
  if (!isObject(source) || found.length === 0) return [requiredCause(at, `one of ${SOURCES.join(', ')}`)];
  if (found.length > 1) return [forbiddenCause(at, `${found.join(' and ')} exclude each other`)];
  const { http, registry } = source;
  const copied = (['pvc', 'snapshot'] as const).flatMap((name) => (isObject(source[name]) ? [[name, source[name]] as const] : []));
  return [
    ...(isObject(http) ? [...urlCauses(http['url'], `${at}.http.url`), ...checksumCauses(http['checksum'], `${at}.http.checksum`)] : []),
    ...(isObject(registry) ? imageCauses(registry['url'], `${at}.registry.url`) : []),
    ...copied.flatMap(([name, said]) => copyCauses(said, `${at}.${name}`, namespace)),
  ];
}

function urlCauses(url: unknown, at: string): StatusCause[] {
  if (typeof url !== 'string' || !URL.canParse(url)) return [invalidCause(at, url, 'must be an address')];
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return [invalidCause(at, url, 'must be an address with http or https')];
  return username || password ? [forbiddenCause(at, 'no password may be in an address, which many can read')] : [];
}

function checksumCauses(checksum: unknown, at: string): StatusCause[] {
  if (checksum === undefined) return [];
  const [algorithm = '', digest = ''] = String(checksum).split(':');
  const isOne = CHECKSUMS[algorithm] === digest.length && /^[0-9a-fA-F]+$/.test(digest);
  return isOne
    ? []
    : [invalidCause(at, checksum, `must be one of ${Object.keys(CHECKSUMS).join(', ')}, a colon and the digest in hexadecimal`)];
}

function imageCauses(url: unknown, at: string): StatusCause[] {
  const isImage = typeof url === 'string' && url.startsWith('docker://') && url.length > 'docker://'.length;
  return isImage ? [] : [invalidCause(at, url, 'must be docker:// and the name of an image')];
}

/** Whether somebody may read the PVCs of another namespace is not ours to say. */
function copyCauses({ name, namespace: from }: JsonObject, at: string, namespace: unknown): StatusCause[] {
  return [
    ...(typeof name === 'string' && name ? subdomainCauses(`${at}.name`, name) : [requiredCause(`${at}.name`, 'what it is a copy of')]),
    ...(from === undefined || namespace === undefined || from === namespace
      ? []
      : [invalidCause(`${at}.namespace`, from, 'must be the same: nothing is copied out of other namespaces')]),
  ];
}
