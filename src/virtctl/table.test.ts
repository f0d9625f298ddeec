import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderTable, withoutEmptyColumns } from './table.ts';

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

test('words of the last column go on beneath it on a terminal that is too narrow', () => {
  const table = [
    ['NAME', 'DESCRIPTION'],
    ['tiny', 'a kernel and busybox, boots in seconds'],
  ];
  assert.equal(renderTable(table, { columns: 30 }), 'NAME  DESCRIPTION\ntiny  a kernel and busybox,\n      boots in seconds\n');
  assert.equal(renderTable(table), 'NAME  DESCRIPTION\ntiny  a kernel and busybox, boots in seconds\n');
});

test('a column in which nothing is can be left out', () => {
  const table = [
    ['NAME', 'ERROR'],
    ['a', ''],
  ];
  assert.deepEqual(withoutEmptyColumns(table), [['NAME'], ['a']]);
});
