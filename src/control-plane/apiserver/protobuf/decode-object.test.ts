import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../../base/errors.ts';
import { message, messageField, stringField } from '../openapi/protobuf.ts';
import { decodeObject } from './decode-object.ts';

const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** The body a client sends for a kind whose message is `raw`. */
function body(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  return message(MAGIC, messageField(1, message(stringField(1, apiVersion), stringField(2, kind))), messageField(2, raw));
}
const zero = (number: number) => Uint8Array.of(number * 8, 0);
const text = (number: number, value: string) => messageField(number, new TextEncoder().encode(value));
const refused = (reason: string) => (error: unknown) => error instanceof ApiError && error.reason === reason;

describe('decodeObject', () => {
  test('reads an object as Go would write it in JSON', () => {
    const metadata = message(text(1, 'settings'), text(2, ''), zero(7), messageField(8, new Uint8Array()));
    const data = messageField(2, message(text(1, 'key'), text(2, 'value')));
    const raw = message(messageField(1, metadata), data);
    assert.deepEqual(decodeObject(body('v1', 'ConfigMap', raw)), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings' },
      data: { key: 'value' },
    });
  });

  test('keeps a zero that was meant: replicas of a Deployment, not its minReadySeconds', () => {
    const spec = message(zero(1), zero(5));
    assert.deepEqual(decodeObject(body('apps/v1', 'Deployment', messageField(2, spec)))['spec'], { replicas: 0 });
  });

  test('flattens what Go inlines', () => {
    const emptyDir = messageField(2, messageField(2, new Uint8Array()));
    const volume = message(text(1, 'scratch'), emptyDir);
    const pod = decodeObject(body('v1', 'Pod', messageField(2, messageField(1, volume))));
    assert.deepEqual(pod['spec'], { volumes: [{ name: 'scratch', emptyDir: {} }] });
  });

  test('reads options of a deletion whatever their group says', () => {
    for (const apiVersion of ['v1', 'apps/v1', 'anything.example/v2']) {
      const { gracePeriodSeconds, propagationPolicy } = decodeObject(
        body(apiVersion, 'DeleteOptions', message(zero(1), text(4, 'Foreground'))),
      );
      assert.deepEqual({ gracePeriodSeconds, propagationPolicy }, { gracePeriodSeconds: 0, propagationPolicy: 'Foreground' });
    }
  });

  test('a key named __proto__ is a key', () => {
    const data = messageField(2, message(text(1, '__proto__'), text(2, 'x')));
    const { data: read } = decodeObject(body('v1', 'ConfigMap', data));
    assert.deepEqual(Object.entries(read as object), [['__proto__', 'x']]);
  });

  test('a kind that only exists as JSON is an unsupported media type', () => {
    assert.throws(() => decodeObject(body('kubevirt.io/v1', 'VirtualMachine', new Uint8Array())), refused('UnsupportedMediaType'));
  });

  test('what is not protobuf is a bad request', () => {
    const config = (raw: Uint8Array) => body('v1', 'ConfigMap', raw);
    const cases: Record<string, Uint8Array> = {
      'no magic bytes': new TextEncoder().encode('{"kind":"Pod"}'),
      'no kind': message(MAGIC, messageField(2, new Uint8Array())),
      'a field that ends early': config(Uint8Array.of(0x0a, 0x7f, 1)),
      'a length of exabytes': config(Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)),
      'a number that never ends': config(new Uint8Array(64).fill(0xff)),
      'an unknown wire type': config(Uint8Array.of(0x0f)),
      'field number 0': config(Uint8Array.of(0x00, 0x00)),
      'text that is not UTF-8': config(messageField(1, messageField(1, Uint8Array.of(0xff)))),
      'a number where a message belongs': config(zero(1)),
    };
    for (const [name, bytes] of Object.entries(cases)) assert.throws(() => decodeObject(bytes), refused('BadRequest'), name);
  });

  test('nesting is bounded', () => {
    let schema = new Uint8Array();
    for (let i = 0; i < 5000; i += 1) schema = Uint8Array.from(messageField(28, schema));
    const version = messageField(7, messageField(4, messageField(1, schema)));
    const crd = body('apiextensions.k8s.io/v1', 'CustomResourceDefinition', messageField(2, version));
    assert.throws(() => decodeObject(crd), refused('BadRequest'));
  });

  test('any bytes are an object or a refusal', () => {
    fc.assert(
      fc.property(fc.constantFrom('Pod', 'ConfigMap', 'Event', 'Service'), fc.uint8Array({ maxLength: 300 }), (kind, raw) => {
        try {
          decodeObject(body('v1', kind, raw));
        } catch (error) {
          assert.ok(error instanceof ApiError, String(error));
        }
      }),
    );
  });
});

describe('the published samples of every kind', () => {
  const folder = join(process.env['GOMODCACHE'] ?? join(homedir(), 'go/pkg/mod'), 'k8s.io/api@v0.34.4/testdata/HEAD');
  const skip = existsSync(folder) ? false : 'the Go module k8s.io/api v0.34.4 is not on this machine';

  test('read the same from protobuf as from JSON', { skip }, () => {
    let compared = 0;
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.pb') && name !== 'core.v1.WatchEvent.pb')) {
      const read = ignoring('UnsupportedMediaType', () => decodeObject(readFileSync(join(folder, file))));
      if (!read) continue;
      assert.deepEqual(read, JSON.parse(readFileSync(join(folder, file.replace(/pb$/, 'json')), 'utf8')), file);
      compared += 1;
    }
    assert.ok(compared > 50, `${compared} kinds were compared`);
  });
});

function ignoring<T>(reason: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError && error.reason === reason) return undefined;
    throw error;
  }
}
