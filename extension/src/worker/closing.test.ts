import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Closing } from './closing.ts';

function begin(t: TestContext, canAttach = true) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const done: string[] = [];
  const port = {
    attach: () => (canAttach ? Promise.resolve() : Promise.reject(new Error('not this one'))),
    detach: (tab: number) => {
      done.push(`detach ${tab}`);
      return Promise.resolve();
    },
    send: (tab: number, _: string | undefined, method: string, params: object) => {
      done.push(`${method} ${tab} ${JSON.stringify(params)}`);
      return Promise.resolve();
    },
  };
  const closing = new Closing(port, (tab) => {
    done.push(`remove ${tab}`);
    return Promise.resolve();
  });
  return { closing, done };
}

for (const canAttach of [true, false]) {
  test(`a tab is closed ${canAttach ? '' : 'that cannot be attached'}`, async (t) => {
    const { closing, done } = begin(t, canAttach);
    const closed = closing.close(1);
    await turn();
    closing.removed(1);
    await closed;
    assert.deepEqual(done, ['Page.enable 1 {}', 'remove 1']);
  });
}

test('a page that asks whether to leave is answered yes, and only while it is closed', async (t) => {
  const { closing, done } = begin(t);
  closing.event(1, 'Page.javascriptDialogOpening');
  const closed = closing.close(1);
  await turn();
  closing.event(1, 'Page.javascriptDialogOpening');
  closing.event(1, 'Page.loadEventFired');
  closing.event(2, 'Page.javascriptDialogOpening');
  closing.removed(1);
  await closed;
  closing.event(1, 'Page.javascriptDialogOpening');
  assert.deepEqual(done.slice(2), ['Page.handleJavaScriptDialog 1 {"accept":true}']);
});

test('a page that does not go in a second loses its process', async (t) => {
  const { closing, done } = begin(t);
  const closed = closing.close(1);
  await turn();
  t.mock.timers.tick(999);
  await turn();
  assert.equal(done.length, 2);
  t.mock.timers.tick(1);
  await turn();
  assert.deepEqual(done.slice(2), ['Page.crash 1 {}', 'remove 1']);
  t.mock.timers.tick(3000);
  await closed;
});

test('a page that a person may have worked in goes where it does not ask, or stays theirs', async (t) => {
  for (const [end, want] of [
    ['removed', []],
    ['asks', ['Page.handleJavaScriptDialog 1 {"accept":false}']],
    ['hangs', []],
  ] as const) {
    const { closing, done } = begin(t);
    const asked = closing.ask(1);
    await turn();
    if (end === 'removed') closing.removed(1);
    if (end === 'asks') closing.event(1, 'Page.javascriptDialogOpening');
    if (end === 'hangs') t.mock.timers.tick(1000);
    await asked;
    assert.deepEqual(done, ['Page.enable 1 {}', 'remove 1', ...want, 'detach 1'], end);
    closing.event(1, 'Page.javascriptDialogOpening');
    assert.equal(done.at(-1), 'detach 1', 'its questions are the person’s now');
    t.mock.timers.reset();
  }
});
