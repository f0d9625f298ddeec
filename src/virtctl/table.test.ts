import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderTable } from './table.ts';

test('columns are as wide as their widest cell', () => {
  assert.equal(
    renderTable([
      ['NAME', 'AGE'],
      ['a-long-name', '5s'],
      ['b', ''],
    ]),
    'NAME         AGE\na-long-name  5s\nb\n',
  );
});
