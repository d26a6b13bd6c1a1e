/** Random HTTP messages, whole and damaged, the same for the same seed. */
import { createRandom } from './random.ts';

export interface MessageWords {
  readonly fields: readonly string[];
  readonly trailers: readonly string[];
  /** What is strewn into bodies, and into what gets damaged. */
  readonly spice: readonly string[];
}

export class RandomMessages {
  readonly random: () => number;
  readonly #words: MessageWords;

  constructor(seed: number, words: MessageWords) {
    this.random = createRandom(seed);
    this.#words = words;
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  bytes(most: number): string {
    return Array.from({ length: this.below(most + 1) }, () =>
      this.random() < 0.2 ? this.pick(this.#words.spice) : String.fromCharCode(this.below(256)),
    ).join('');
  }

  /** Lines of a head, with the field among them that says how the body ends. */
  fields(framing: string | undefined): string[] {
    const { fields } = this.#words;
    return [...this.#some(fields, 4), ...(framing === undefined ? [] : [framing]), ...this.#some(fields, 2)];
  }

  withLength(): [field: string, body: string] {
    const body = this.bytes(30);
    const name = this.pick(['content-length', 'Content-Length']);
    return [`${name}:${this.#spaces()}${body.length}${this.#spaces()}`, body];
  }

  inChunks(): [field: string, body: string] {
    let body = '';
    for (let left = this.below(6); left > 0; left--) {
      const chunk = this.bytes(20) || 'x';
      const size = chunk.length.toString(16).padStart(1 + this.below(4), '0');
      const extension = this.pick(['', '', '', ';a', ';a=b', ';a="b c"', ';a;b=c']);
      body += `${this.random() < 0.5 ? size : size.toUpperCase()}${extension}\r\n${chunk}\r\n`;
    }
    const last = this.random() < 0.3 ? this.#some(this.#words.trailers, 2) : [];
    const name = this.pick(['transfer-encoding', 'Transfer-Encoding']);
    return [
      `${name}:${this.#spaces()}${this.pick(['chunked', 'Chunked'])}${this.#spaces()}`,
      `${body}0\r\n${last.map((line) => `${line}\r\n`).join('')}\r\n`,
    ];
  }

  /** In up to three places. */
  damaged(text: string): string {
    let result = text;
    for (let times = this.below(4); times > 0; times--) result = this.#damagedOnce(result);
    return result;
  }

  #spaces(): string {
    return this.pick(['', ' ', '\t', '  ']);
  }

  #some<T>(list: readonly T[], most: number): T[] {
    return Array.from({ length: this.below(most + 1) }, () => this.pick(list));
  }

  #damagedOnce(text: string): string {
    const { spice } = this.#words;
    const at = this.below(text.length + 1);
    switch (this.below(6)) {
      case 0:
        return text.slice(0, at) + this.pick(spice) + text.slice(at);
      case 1:
        return text.slice(0, at) + this.pick(spice) + text.slice(at + 1);
      case 2:
        return text.slice(0, at) + text.slice(at + 1 + this.below(3));
      case 3:
        return text.slice(0, at) + String.fromCharCode(this.below(256)) + text.slice(at + 1);
      case 4: {
        const from = this.below(text.length);
        return text.slice(0, at) + text.slice(from, from + this.below(20)) + text.slice(at);
      }
      default: {
        // A line somewhere else.
        const lines = text.split('\r\n');
        lines.splice(this.below(lines.length), this.random() < 0.5 ? 1 : 0, this.pick(lines));
        return lines.join('\r\n');
      }
    }
  }
}
