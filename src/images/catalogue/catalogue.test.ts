import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../../base/errors.ts';
import { BUILT_IN } from './built-in-table.ts';
import { catalogueOf, readCatalogue } from './catalogue.ts';
import { ARCHITECTURES } from './entry.ts';
import { parseCatalogue } from './parse-catalogue.ts';

const URL_OF_WEB = 'https://images.example.com/web.qcow2';
const web = { sources: { amd64: { url: URL_OF_WEB } } };

function imagesOf(images: object) {
  return parseCatalogue(JSON.stringify({ images }), 'test', 'user').images;
}

test('the built-in catalogue is one by the rules for all of them, and each of its vendors says how to check the disk', () => {
  const { images } = parseCatalogue(JSON.stringify(BUILT_IN), 'built in', 'team');
  assert.deepEqual(
    ['debian', 'debian:12', 'debian:13', 'ubuntu', 'ubuntu:24.04', 'alpine', 'fedora', 'cirros', 'tiny'].filter(
      (name) => !images.has(name),
    ),
    [],
  );
  for (const [name, entry] of images) {
    if ('alias' in entry) continue;
    for (const source of ARCHITECTURES.map((each) => entry.sources[each]))
      if (source && 'url' in source) assert.ok(source.url.startsWith('https://') && source.checksums?.startsWith('https://'), name);
  }
  const catalogue = readCatalogue('/nowhere');
  assert.deepEqual(
    [...images.keys()].filter((name) => !catalogue.find(name)),
    [],
  ); // no alias leads nowhere
});

test('what a user wrote goes before a team, and that before what is built in', () => {
  const team = {
    from: 'team',
    publisher: 'https://team.example',
    images: imagesOf({ web: { ...web, user: 'team' }, tiny: { ...web, user: 'team' } }),
  };
  const { find } = catalogueOf([{ from: 'user', images: imagesOf({ web: { ...web, user: 'me' } }) }, team]);
  assert.deepEqual(
    [find('web')?.from, find('web')?.publisher, find('tiny')?.publisher, find('nobody')],
    ['user', undefined, 'https://team.example', undefined],
  );
});

test('one more name for an entry leads to it, and a circle nowhere', () => {
  const { find, search, near } = catalogueOf([
    { from: 'user', images: imagesOf({ a: { alias: 'b' }, b: { alias: 'a' }, w: { alias: 'web:2' }, 'web:2': web }) },
  ]);
  assert.deepEqual([find('a'), find('w')?.entryName, find('w')?.name, near('wbe:2')], [undefined, 'web:2', 'w', 'web:2']);
  assert.deepEqual(
    search().map(({ name }) => name),
    ['w', 'web:2'],
  );
});

test('what is left out has a default', () => {
  assert.deepEqual(imagesOf({ web }).get('web'), { description: '', sources: web.sources, cloudInit: true, agent: false });
});

const MISTAKES: [file: unknown, why: RegExp][] = [
  [[], /it is not a JSON object/],
  [{ image: {} }, /"image" is not known; known are catalogues, cacheGiB, images/],
  [{ cacheGiB: 0 }, /cacheGiB is not a number above 0/],
  [{ catalogues: ['ftp://x'] }, /catalogues\[0\] is not https/],
  [{ images: { '../x': web } }, /images\["..\/x"\] is no name/],
  [{ images: { web: { sources: {} } } }, /images\["web"\]\.sources has none of amd64, arm64/],
  [{ images: { web: { sources: { riscv: { url: URL_OF_WEB } } } } }, /"riscv" is not known/],
  [{ images: { web: { sources: { amd64: { url: URL_OF_WEB, image: 'x' } } } } }, /has not exactly one of url and image/],
  [{ images: { web: { sources: { amd64: { url: 'file:///etc/passwd' } } } } }, /\.url is not https/],
  [{ images: { web: { sources: { amd64: { url: 'https://me:secret@images.example.com/' } } } } }, /\.url has a user or a password/],
  [{ images: { web: { sources: { amd64: { url: URL_OF_WEB, digest: 'md5:00' } } } } }, /\.digest is neither sha256:HEX nor sha512:HEX/],
  [{ images: { web: { sources: { amd64: { image: 'A B' } } } } }, /\.image is no name of an image/],
  [{ images: { web: { ...web, user: 'root\nevil' } } }, /\.user cannot be the name of a user/],
  [{ images: { web: { ...web, memory: 'much', cloudInit: 1 } } }, /\.memory is not an amount.*\.cloudInit is neither true nor false/],
  [{ images: { web: { alias: 'x', user: 'y' } } }, /"user" is not known; known are alias/],
];
for (const [file, why] of MISTAKES)
  test(`${JSON.stringify(file)} is refused by field`, () =>
    assert.throws(
      () => parseCatalogue(JSON.stringify(file), 'test', 'user'),
      (error) => error instanceof UserError && error.code === 'CATALOGUE_INVALID' && why.test(error.why ?? ''),
    ));
