import { isA } from './dom.ts';
import { Refusal } from './failure.ts';

/** How the values of fields are written that are made of parts, in whatever order a locale shows them. */
const WRITTEN: Record<string, string> = {
  date: 'YYYY-MM-DD',
  time: 'HH:MM',
  month: 'YYYY-MM',
  week: 'YYYY-Www',
  'datetime-local': 'YYYY-MM-DDTHH:MM',
};

const PART_TYPES = [...Object.keys(WRITTEN), 'color', 'range'];
const NUMBER = /^[-+]?(\d+|\d*\.\d+)([eE][-+]?\d+)?$/;

/** Whether the value is given to the field as a whole instead of being typed. */
export function isSetWhole(input: HTMLInputElement, text: string): boolean {
  if (input.type !== 'number') return PART_TYPES.includes(input.type);
  // What is typed is read by the locale, where a point may part thousands.
  return text !== '' && !/^\d+$/.test(text);
}

/** Gives a field its value, or refuses with the reason and leaves it as it was. */
export function setWhole(input: HTMLInputElement, text: string): void {
  const before = input.value;
  input.value = text;
  const kept = input.value;
  if (!isWhatWasMeant(input.type, text, kept)) {
    input.value = before;
    throw new Refusal('bad_request', why(input, text, kept));
  }
  announce(input);
}

/** What a person's entry tells the page. */
export function announce(el: Element): void {
  el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
}

function isWhatWasMeant(type: string, text: string, kept: string): boolean {
  switch (type) {
    case 'range':
    case 'number':
      return NUMBER.test(text) && Number(kept) === Number(text) && kept !== '';
    case 'color':
      return text !== '' && kept === text.toLowerCase();
    default:
      return text === '' || kept !== '';
  }
}

function why(input: HTMLInputElement, text: string, kept: string): string {
  const { type } = input;
  if (type === 'color')
    return 'The color field takes a colour written #rrggbb, such as #ff0000: no name and no other spelling.';
  if ((type === 'range' || type === 'number') && !NUMBER.test(text)) {
    return `The ${type} field takes a number.`;
  }
  if (type === 'range') {
    const steps = stepOf(input);
    return `The range field does not take this value: it goes from ${limit(input.min, '0')} to ${limit(input.max, '100')}${steps}; the nearest is ${limit(kept, 'another')}.`;
  }
  if (type === 'number') return 'The number field does not take this value.';
  return `The ${type} field does not take this value: there is no such ${nounOf(type)}, or it is not written ${WRITTEN[type]}.`;
}

function nounOf(type: string): string {
  return type === 'datetime-local' ? 'date and time' : type;
}

function stepOf(input: HTMLInputElement): string {
  return input.step === 'any' ? '' : ` in steps of ${limit(input.step, '1')}`;
}

/** A bound that a page set, where it is no more than a number or a date. */
export function limit(given: string, otherwise: string): string {
  return /^[\d.:TWeE+-]{1,24}$/.test(given) ? given : otherwise;
}

/** What a field finds wrong with what it holds, in our words. */
const COMPLAINTS: [keyof ValidityState, (field: HTMLInputElement) => string][] = [
  ['badInput', () => 'it cannot be read'],
  ['rangeUnderflow', ({ min }) => `it is below the least, ${limit(min, 'which is not told')}`],
  ['rangeOverflow', ({ max }) => `it is above the most, ${limit(max, 'which is not told')}`],
  ['stepMismatch', () => 'it is between two steps'],
  [
    'typeMismatch',
    ({ type }) => `it is not written like an ${type === 'email' ? 'email' : 'web'} address`,
  ],
  ['patternMismatch', () => 'it does not fit the pattern'],
  ['tooShort', () => 'it is too short'],
  ['tooLong', () => 'it is too long'],
  ['valueMissing', () => 'a value is required'],
  ['customError', () => 'the page objects to it'],
];

export function complaintOf(field: Element): string | undefined {
  if (!(isA(field, 'input') || isA(field, 'textarea')) || field.validity.valid) return undefined;
  const found = COMPLAINTS.find(([name]) => field.validity[name]);
  return found?.[1](field as HTMLInputElement);
}
