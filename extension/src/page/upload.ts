import type { StageArgs, Staged, UploadArgs, Uploaded } from './contract.ts';
import { holderOf, isA, own } from './dom.ts';
import { Refusal } from './failure.ts';
import { resolve } from './find.ts';
import { elementsOf } from './flat.ts';
import { isDisabled } from './states.ts';

/** Files on their way to a field, in parts; of one batch at a time. */
type Staging = { name: string; type: string; parts: Uint8Array<ArrayBuffer>[] };
let batch = '';
let staged: Staging[] = [];

export function stage(args: StageArgs): Staged {
  if (args.batch !== batch) {
    batch = args.batch;
    staged = [];
  }
  const { name, type, file } = args;
  staged[file] ??= { name, type, parts: [] };
  staged[file].parts.push(bytesOf(args.part));
  return { files: staged.length };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** Gives the staged files to a file field, as a person does who chooses them in the browser's own window. */
export function upload(args: UploadArgs): Uploaded {
  const field = fieldOf(resolve(args.target, args.expect));
  if (isDisabled(field)) throw new Refusal('not_enabled', 'The file field is disabled.');
  if (args.batch !== batch || staged.length === 0) {
    throw new Refusal('stale_ref', 'The page has been replaced while the files were on their way.');
  }
  if (!field.multiple && staged.length > 1) {
    throw new Refusal('bad_request', 'This field takes one file.');
  }
  const carrier = new DataTransfer();
  for (const { name, type, parts } of staged) carrier.items.add(new File(parts, name, { type }));
  staged = [];
  batch = '';
  field.files = carrier.files;
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
  return { files: field.files?.length ?? 0 };
}

/**
 * The field that is meant: the element itself, the one of its label, or the only one in the nearest box that holds one,
 * since what is shown of a file field is mostly a button beside it.
 */
function fieldOf(el: Element): HTMLInputElement {
  if (isField(el)) return el;
  if (isA(el, 'label') && isField(el.control)) return el.control;
  for (let box: Element | null = el; box !== null; box = holderOf(box)) {
    const fields = [...elementsOf(box)].filter(isField);
    const [first] = fields;
    if (first === undefined) continue;
    if (fields.length === 1) return first;
    throw new Refusal('ambiguous', `${fields.length} file fields are near this element.`);
  }
  throw new Refusal('not_found', 'There is no file field at this element.');
}

function isField(el: unknown): el is HTMLInputElement {
  return isA(el, 'input') && own(el).type === 'file';
}
