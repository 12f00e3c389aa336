import assert from 'node:assert/strict';
import { test } from 'node:test';
import permitted from '../../../relay/cdp/testdata/permitted.json' with { type: 'json' };
import { looseNode, withObject } from './nodes.ts';

test('a node by the number of its process is loose', () => {
  assert.equal(looseNode('DOM.getOuterHTML', { backendNodeId: 7 }), 7);
  assert.equal(looseNode('DOM.getOuterHTML', { backendNodeId: 0 }), 0);
  assert.equal(looseNode('DOM.getOuterHTML', { nodeId: 7 }), undefined);
  assert.equal(looseNode('DOM.getOuterHTML', { objectId: '7' }), undefined);
  assert.equal(looseNode('DOM.resolveNode', { backendNodeId: 7 }), undefined);
  assert.equal(looseNode('DOM.getOuterHTML', undefined), undefined);
});

test('the object stands where the number was', () => {
  const params = { backendNodeId: 7, depth: 1 };
  assert.deepEqual(withObject(params, 'o'), { depth: 1, objectId: 'o' });
  assert.deepEqual(params, { backendNodeId: 7, depth: 1 });
});

test('whatever takes such a number takes an object too', () => {
  const numbered = Object.entries<string[]>(permitted.act).filter(([, params]) =>
    params.includes('backendNodeId'),
  );
  assert.ok(numbered.length > 5);
  for (const [method, params] of numbered) {
    assert.ok(method === 'DOM.resolveNode' || params.includes('objectId'), method);
  }
});
