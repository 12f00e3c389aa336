/** How screens ask and follow: what they show is the last answer, or what went wrong. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Api, Refused } from './api.ts';
import { type Happening, happening } from './model.ts';
import { follow, type Message } from './stream.ts';

export type Trouble = { message: string; hint: string };

export function trouble(error: unknown): Trouble {
  if (error instanceof Refused) {
    return { message: error.message, hint: error.hint };
  }
  return {
    message: 'The server cannot be reached.',
    hint: 'It is asked again by itself; is chaperone serve running?',
  };
}

export type Asked<T> = { value: T | undefined; trouble: Trouble | undefined; again: () => void };

/** Ask once for each key, every `every` milliseconds, and whenever `again` is called. */
export function useAsked<T>(key: string, every: number, ask: () => Promise<T>): Asked<T> {
  const [value, setValue] = useState<T | undefined>(undefined);
  const [wrong, setWrong] = useState<Trouble | undefined>(undefined);
  const asking = useRef(ask);
  asking.current = ask;
  const turn = useRef(0);
  const again = useCallback(() => {
    turn.current += 1;
    const mine = turn.current;
    const mineStill = (): boolean => turn.current === mine;
    asking.current().then(
      (answer) => {
        if (mineStill()) {
          setValue(answer);
          setWrong(undefined);
        }
      },
      (error: unknown) => mineStill() && setWrong(trouble(error)),
    );
  }, []);
  useEffect(() => {
    setValue(undefined);
    again();
    const timer = every > 0 ? setInterval(again, every) : undefined;
    return () => {
      turn.current += 1;
      clearInterval(timer);
    };
  }, [key, every, again]);
  return { value, trouble: wrong, again };
}

/** Follow a stream while the component is shown; an empty path is none. Answers what ended it. */
export function useStream(
  api: Api,
  path: string,
  take: (message: Message) => void,
): Trouble | undefined {
  const [wrong, setWrong] = useState<Trouble | undefined>(undefined);
  const taking = useRef(take);
  taking.current = take;
  useEffect(() => {
    setWrong(undefined);
    if (path === '') {
      return;
    }
    const leaving = new AbortController();
    const wish = { signal: leaving.signal, take: (m: Message) => taking.current(m) };
    follow(api, path, wish).catch((error: unknown) => setWrong(trouble(error)));
    return () => leaving.abort();
  }, [api, path]);
  return wrong;
}

/** Follow a scope's events ("/projects/p" or "/sessions/s"). */
export function useEvents(
  api: Api,
  scope: string,
  take: (event: Happening) => void,
): Trouble | undefined {
  return useStream(api, scope === '' ? '' : `${scope}/events`, (m) =>
    take(happening(JSON.parse(m.data))),
  );
}

/** Call at most once in `ms`, the last time included. */
export function useCalmly(ms: number, call: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const calling = useRef(call);
  calling.current = call;
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      calling.current();
    }, ms);
  }, [ms]);
}
