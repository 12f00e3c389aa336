import { fold } from './flat.ts';

/** A place in the text under way. */
export type Spot = { lines: number; at: number };

/** Lines under way: blocks break them, and none is empty. Plain text has no marks: no bars, links, bullets. */
export class Writer {
  /** The frames that stand in the text, by the numbers of their elements and how many lines come before. */
  readonly frames: { node: number; at: number }[] = [];
  /** How many characters of the document's were read, shown or not. */
  read = 0;
  readonly #plain: boolean;
  readonly #limit: number;
  readonly #lines: string[] = [];
  #length = 0;
  #line = '';

  constructor(options: { plain?: true; limit?: number } = {}) {
    this.#plain = options.plain === true;
    this.#limit = options.limit ?? Number.POSITIVE_INFINITY;
  }

  /** Whether there is enough: what comes then is not read. */
  get isFull(): boolean {
    return this.length >= this.#limit;
  }

  get length(): number {
    return this.#length + this.#line.length;
  }

  add(text: string): void {
    this.#line += text;
  }

  mark(text: string): void {
    if (!this.#plain) this.#line += text;
  }

  /** The bar between two cells. */
  bar(): void {
    this.#line += this.#plain ? ' ' : ' | ';
  }

  frame(node: number): void {
    this.end();
    this.frames.push({ node, at: this.#lines.length });
  }

  /** What the current line holds so far. */
  get pending(): string {
    return fold(this.#line);
  }

  spot(): Spot {
    return { lines: this.#lines.length, at: this.#line.length };
  }

  /** Whether nothing but space was written since. */
  isAt(spot: Spot): boolean {
    return this.#lines.length === spot.lines && this.#line.slice(spot.at).trim() === '';
  }

  /** Makes a link of what was written since; where that is several lines, the address ends the last. */
  link(from: Spot, address: string): void {
    if (this.#plain || this.isAt(from)) return;
    if (this.#lines.length === from.lines) {
      const said = this.#line.slice(from.at);
      const before = this.#line.slice(0, from.at) + (/^\s/.test(said) ? ' ' : '');
      const name = fold(said).replace(/^\[(.*)\]$/, '$1');
      this.#line = `${before}[${name}](${address})${/\s$/.test(said) ? ' ' : ''}`;
    } else if (this.pending === '') {
      this.#lines[this.#lines.length - 1] += ` (${address})`;
    } else this.#line += ` (${address})`;
  }

  end(): void {
    const line = this.pending;
    if (line !== '') this.#put(line);
    this.#line = '';
  }

  #put(line: string): void {
    this.#lines.push(line);
    this.#length += line.length + 1;
  }

  keep(block: string): void {
    this.end();
    for (const line of block.split('\n')) this.#put(line.trimEnd());
  }

  toString(): string {
    this.end();
    return this.#lines.join('\n');
  }
}
