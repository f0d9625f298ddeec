import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesOf, upgradeAttributesOf } from './request-attributes.ts';

const NAMES: readonly [title: string, selector: string, name: string | undefined][] = [
  ['an equality names one object', 'metadata.name=allowed', 'allowed'],
  ['the double equality sign is the same', 'metadata.name==allowed', 'allowed'],
  ['an equality beside another field still names one object', 'metadata.namespace=a,metadata.name=allowed', 'allowed'],
  ['an equality beside an inequality of the same field selects that object at most', 'metadata.name!=b,metadata.name=allowed', 'allowed'],
  ['an inequality names nothing', 'metadata.name!=allowed', undefined],
  ['an escaped comma belongs to the value before it', 'metadata.name!=zz\\,metadata.name=allowed', undefined],
  ['an escaped character is the character', 'metadata.name=allow\\ed', 'allowed'],
  ['an escaped equality sign makes no second term', 'metadata.namespace=x\\,metadata.name\\=allowed', undefined],
  ['another field is no name', 'spec.metadata.name=allowed', undefined],
  ['a selector that cannot be read names nothing', 'metadata.name', undefined],
  ['no selector names nothing', '', undefined],
];

for (const [title, selector, name] of NAMES) {
  for (const [method, watch] of [
    ['GET', ''],
    ['GET', '&watch=1'],
    ['DELETE', ''],
  ] as const) {
    test(`field selectors in authorization: ${title} (${method}${watch})`, () => {
      const url = new URL(`https://server/api/v1/namespaces/a/secrets?fieldSelector=${encodeURIComponent(selector)}${watch}`);
      const attributes = attributesOf(method, url);
      assert.equal(attributes.type === 'resource' ? attributes.name : 'not a resource', name);
    });
  }
}

test('a name in the path counts, whatever a field selector says', () => {
  const attributes = attributesOf('GET', new URL('https://server/api/v1/namespaces/a/secrets/mine?fieldSelector=metadata.name%3Dother'));
  assert.equal(attributes.type === 'resource' && attributes.name, 'mine');
});

test('a stream of a Pod is create, by GET and by POST; a console is what its method says', () => {
  const verbOf = (method: string, path: string) => upgradeAttributesOf(method, new URL(path, 'https://server')).verb;
  const pod = '/api/v1/namespaces/a/pods/p';
  const streams = ['exec', 'attach', 'portforward'].flatMap((name) => ['GET', 'POST'].map((method) => verbOf(method, `${pod}/${name}`)));
  assert.deepEqual([...new Set(streams)], ['create']);
  assert.equal(verbOf('GET', '/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/p/console'), 'get');
  assert.equal(verbOf('GET', `${pod}/log`), 'get');
});
