import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../../relay/cdp/testdata/filled.json' with { type: 'json' };
import { judgeFilled } from './table.ts';

for (const c of vectors.calls) {
  test(c.name, () => {
    assert.deepEqual(judgeFilled(c.method, c.params), { reason: c.reason, located: [] });
  });
}
