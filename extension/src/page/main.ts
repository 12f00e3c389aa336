import { cut, LONGEST_NAME } from './bounds.ts';
import { select } from './choice.ts';
import { chosen, option, popup } from './combobox.ts';
import type * as contract from './contract.ts';
import { watchEntry } from './entry.ts';
import { Refusal } from './failure.ts';
import { entered, focus, value } from './fields.ts';
import { find } from './find.ts';
import { openUp } from './flat.ts';
import { hasSuspects, takeSuspects } from './hosts.ts';
import { landed, watchClicks, watchRoot } from './landing.ts';
import { hit, locate } from './locate.ts';
import { acting, lookAgain, lookedAt } from './news.ts';
import { over } from './over.ts';
import { owner } from './owner.ts';
import { scroll } from './scroll.ts';
import { search } from './search.ts';
import { snapshot } from './snapshot.ts';
import { text } from './text.ts';
import { toggle, toggled } from './toggle.ts';
import { stage, upload } from './upload.ts';
import { hasText, history, quiet, state } from './waiting.ts';

/**
 * The page script's one door. The edge evaluates this in an isolated world, where nothing the page has redefined is
 * seen, and calls `chaperone(name, args)`; evaluating it again changes nothing.
 */
type Door = (name: string, args: unknown) => string | Promise<string> | Element[];

declare global {
  var chaperone: Door | undefined;
}

function call(name: string, args: unknown): unknown {
  switch (name) {
    case '@state':
      return state(args as contract.StateArgs);
    case '@snapshot':
      return snapshot(args as contract.SnapshotArgs);
    case '@text':
      return text(args as contract.TextArgs);
    case '@find':
      return lookUp(args as contract.FindArgs);
    case '@owner':
      return owner(args);
    case '@adopt':
      return adopt(args);
    case '@over':
      return over(args as contract.OverArgs);
    case '@locate':
      return locate(args as contract.LocateArgs);
    case '@hit':
      return hit(args);
    case '@landed':
      return landed(args as contract.LandedArgs);
    default:
      return act(name, args);
  }
}

/** Takes a closed shadow root that the edge hands in. */
function adopt(root: unknown): null {
  if (!(root instanceof ShadowRoot)) {
    throw new Refusal('bad_request', 'Only a shadow root can be adopted.');
  }
  openUp(root);
  watchRoot(root);
  return null;
}

function lookUp(args: contract.FindArgs): unknown {
  return args.budget === undefined ? find(args) : search({ ...args, budget: args.budget });
}

function act(name: string, args: unknown): unknown {
  switch (name) {
    case '@stage':
      return stage(args as contract.StageArgs);
    case '@upload':
      return upload(args as contract.UploadArgs);
    case '@scroll':
      return scroll(args as contract.ScrollArgs);
    case '@history':
      return history(args as contract.HistoryArgs);
    case '@has_text':
      return hasText(args as contract.HasTextArgs);
    case '@quiet':
      return quiet(args as contract.QuietArgs);
    default:
      return enter(name, args);
  }
}

function enter(name: string, args: unknown): unknown {
  switch (name) {
    case '@focus':
      return focus(args as contract.FocusArgs);
    case '@entered':
      return entered(args as contract.EnteredArgs);
    case '@value':
      return value(args as contract.ValueArgs);
    case '@toggle':
      return toggle(args as contract.ToggleArgs);
    case '@toggled':
      return toggled(args as contract.ToggledArgs);
    case '@select':
      return select(args as contract.SelectArgs);
    case '@popup':
      return popup(args as contract.PopupArgs);
    case '@option':
      return option(args as contract.OptionArgs);
    case '@chosen':
      return chosen(args as contract.ChosenArgs);
    default:
      throw new Refusal('bad_request', `The page script has no function ${name}.`);
  }
}

/** The functions after which the edge opens closed shadow trees to us and asks again. */
const READING = ['@snapshot', '@text', '@find'];

function door(name: string, args: unknown): ReturnType<Door> {
  if (name === '@hosts') return takeSuspects();
  if (name === '@adopt') lookAgain();
  else lookedAt();
  acting(true);
  const answer = answerTo(name, args);
  if (answer instanceof Promise) return answer.finally(() => acting(false));
  acting(false);
  return answer;
}

function answerTo(name: string, args: unknown): string | Promise<string> {
  try {
    const answer = call(name, args);
    if (answer instanceof Promise) return answer.then(answered, refused);
    return READING.includes(name) && hasSuspects() ? answered(answer, true) : answered(answer);
  } catch (error) {
    return refused(error);
  }
}

function answered(value: unknown, hosts?: true): string {
  return JSON.stringify({ value, ...(hosts && { hosts }) } satisfies contract.Answer);
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
  watchEntry();
}
