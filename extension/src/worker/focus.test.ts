import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Focus, type Windows } from './focus.ts';

const press = { type: 'mousePressed' };

/** Two windows, 1 with tab 10 and 2 with tab 20, and what was done to windows. */
function desk(focused: number | undefined, minimised: boolean) {
  const done: string[] = [];
  const clock = { nowMS: 0 };
  let now = focused;
  const windows: Windows = {
    look: (tab) => Promise.resolve({ window: tab / 10, minimised, focused: now }),
    front: (window) => {
      done.push(`front ${window}`);
      goes(window);
      return Promise.resolve();
    },
    minimise: (window) => {
      done.push(`minimise ${window}`);
      return Promise.resolve();
    },
  };
  const focus = new Focus(windows, () => clock.nowMS);
  const goes = (window: number) => {
    now = window < 0 ? undefined : window;
    focus.changed(window);
  };
  return { focus, done, clock, goes };
}

const settled = () => new Promise((done) => setImmediate(done));

const cases: {
  name: string;
  focused: number | undefined;
  minimised?: true;
  does: (d: ReturnType<typeof desk>) => Promise<void> | void;
  want: string[];
}[] = [
  {
    name: 'a press that brings its window forward gives the keyboard back',
    focused: 2,
    does: async ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      await settled();
      goes(-1);
      goes(1);
    },
    want: ['front 2'],
  },
  {
    name: 'also where Chrome tells of the window before it tells whose tab it is',
    focused: 2,
    does: ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      goes(1);
    },
    want: ['front 2'],
  },
  {
    name: 'the second press of a double click, while the keyboard is on its way back',
    focused: 2,
    does: async ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      await settled();
      goes(1);
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      await settled();
      goes(1);
    },
    want: ['front 2', 'front 2'],
  },
  {
    name: 'a press in the window that the person is in takes nothing',
    focused: 1,
    does: async ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      await settled();
      goes(2);
      goes(1);
    },
    want: [],
  },
  {
    name: 'a person who goes to the window later stays there',
    focused: 2,
    does: async ({ focus, goes, clock }) => {
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      await settled();
      clock.nowMS = 250;
      goes(1);
    },
    want: [],
  },
  {
    name: 'a person who goes to a third window stays there',
    focused: 2,
    does: async ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      await settled();
      goes(3);
    },
    want: [],
  },
  {
    name: 'keys and moves take no keyboard',
    focused: 2,
    does: async ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchKeyEvent', { type: 'keyDown' });
      focus.sending(10, 'Input.dispatchMouseEvent', { type: 'mouseMoved' });
      await settled();
      goes(1);
    },
    want: [],
  },
  {
    name: 'a person in another program is not brought back to the browser',
    focused: undefined,
    does: async ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchMouseEvent', press);
      await settled();
      goes(1);
    },
    want: [],
  },
  {
    name: 'a window that was minimised is so again',
    focused: undefined,
    minimised: true,
    does: async ({ focus, goes }) => {
      focus.sending(10, 'Input.dispatchTouchEvent', { type: 'touchEnd' });
      await settled();
      goes(1);
    },
    want: ['minimise 1'],
  },
];

for (const { name, focused, minimised, does, want } of cases) {
  test(name, async () => {
    const d = desk(focused, minimised ?? false);
    await does(d);
    await settled();
    assert.deepEqual(d.done, want);
  });
}
