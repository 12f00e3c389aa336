import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Views } from './views.ts';

/** Window 1 shows tab 10 and has the keyboard, window 2 shows tab 20; tabs are in the window of their tens. */
function begin() {
  const done: string[] = [];
  const clock = { nowMS: 10_000 };
  const views = new Views(
    {
      windowOf: (tab) => Promise.resolve(Math.floor(tab / 10)),
      show: (tab) => {
        done.push(`show ${tab}`);
        return Promise.resolve();
      },
      front: (window) => {
        done.push(`front ${window}`);
        return Promise.resolve();
      },
    },
    () => clock.nowMS,
  );
  views.shows(1, 10);
  views.shows(2, 20);
  views.focused(2);
  views.focused(1);
  clock.nowMS += 10_000;
  return { views, done, clock };
}

const cases: {
  name: string;
  does: (desk: ReturnType<typeof begin>) => Promise<void> | void;
  want: string[];
}[] = [
  {
    name: 'a tab that comes to the front goes behind again',
    does: async ({ views }) => {
      views.shows(1, 11);
      await views.opened(11);
    },
    want: ['show 10'],
  },
  {
    name: 'also where Chrome shows it only after it has told who opened it',
    does: async ({ views }) => {
      await views.opened(11);
      views.shows(1, 11);
    },
    want: ['show 10'],
  },
  {
    name: 'a window that takes the keyboard gives it back',
    does: async ({ views }) => {
      views.shows(3, 30);
      views.focused(-1);
      views.focused(3);
      await views.opened(30);
    },
    want: ['front 1'],
  },
  {
    name: 'a tab in another window gives back both',
    does: async ({ views }) => {
      views.shows(2, 21);
      await views.opened(21);
      views.focused(2);
    },
    want: ['show 20', 'show 20', 'front 1'],
  },
  {
    name: 'a tab behind takes nothing, and the window that the person went to before stays theirs',
    does: async ({ views, clock }) => {
      views.focused(2);
      clock.nowMS += 101;
      await views.opened(21);
    },
    want: [],
  },
  {
    name: 'what a person was doing in another program stays there',
    does: async ({ views, clock }) => {
      views.focused(-1);
      clock.nowMS += 251;
      await views.opened(30);
      views.focused(3);
    },
    want: [],
  },
  {
    name: 'a tab that the person goes to later stays in front',
    does: async ({ views, clock }) => {
      await views.opened(11);
      clock.nowMS += 1001;
      views.shows(1, 11);
    },
    want: [],
  },
  {
    name: 'a tab that nobody’s agent opened stays in front',
    does: ({ views }) => {
      views.shows(1, 11);
      views.shows(3, 30);
      views.focused(3);
    },
    want: [],
  },
];

for (const { name, does, want } of cases) {
  test(name, async () => {
    const desk = begin();
    await does(desk);
    assert.deepEqual(desk.done, want);
  });
}
