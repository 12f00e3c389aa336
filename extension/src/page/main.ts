import { cut, LONGEST_NAME } from './bounds.ts';
import type * as contract from './contract.ts';
import { Refusal } from './failure.ts';
import { focus, select, value } from './fields.ts';
import { find } from './find.ts';
import { landed, watchClicks } from './landing.ts';
import { locate } from './locate.ts';
import { over } from './over.ts';
import { owner } from './owner.ts';
import { scroll } from './scroll.ts';
import { snapshot } from './snapshot.ts';
import { text } from './text.ts';
import { hasText, history, quiet, state } from './waiting.ts';

/**
 * The page script's one door. The edge evaluates this in an isolated world, where nothing the page has redefined is
 * seen, and calls `chaperone(name, args)`; evaluating it again changes nothing.
 */
type Door = (name: string, args: unknown) => string | Promise<string>;

declare global {
  var chaperone: Door | undefined;
}

function call(name: string, args: unknown): unknown {
  switch (name) {
    case '@state':
      return state();
    case '@snapshot':
      return snapshot(args as contract.SnapshotArgs);
    case '@text':
      return text(args as contract.TextArgs);
    case '@find':
      return find(args as contract.FindArgs);
    case '@owner':
      return owner(args);
    case '@over':
      return over(args as contract.OverArgs);
    case '@locate':
      return locate(args as contract.LocateArgs);
    case '@landed':
      return landed(args as contract.LandedArgs);
    default:
      return act(name, args);
  }
}

function act(name: string, args: unknown): unknown {
  switch (name) {
    case '@scroll':
      return scroll(args as contract.ScrollArgs);
    case '@history':
      return history(args as contract.HistoryArgs);
    case '@has_text':
      return hasText(args as contract.HasTextArgs);
    case '@quiet':
      return quiet(args as contract.QuietArgs);
    case '@focus':
      return focus(args as contract.FocusArgs);
    case '@value':
      return value(args as contract.ValueArgs);
    case '@select':
      return select(args as contract.SelectArgs);
    default:
      throw new Refusal('bad_request', `The page script has no function ${name}.`);
  }
}

function door(name: string, args: unknown): string | Promise<string> {
  try {
    const answer = call(name, args);
    return answer instanceof Promise ? answer.then(answered, refused) : answered(answer);
  } catch (error) {
    return refused(error);
  }
}

function answered(value: unknown): string {
  return JSON.stringify({ value } satisfies contract.Answer);
}

function refused(error: unknown): string {
  const failure: contract.Failure =
    error instanceof Refusal
      ? error.failure
      : { code: 'internal', message: cut(String(error), LONGEST_NAME) };
  return JSON.stringify({ error: failure } satisfies contract.Answer);
}

// An element with this id is found by this name too, until the name is taken.
if (!Object.hasOwn(globalThis, 'chaperone')) {
  globalThis.chaperone = door;
  watchClicks();
}
