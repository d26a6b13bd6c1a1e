/**
 * Random and damaged answers, held against Node's own client (llhttp): what is accepted here is accepted there too,
 * with the same status and the same body. The other way round it need not be. Refused here and not there are:
 *
 * - any transfer encoding but one `chunked`: no engine sends another, and readers disagree on lists of them
 * - an empty line before the status line, versions other than 1.0 and 1.1, a status of less than 100, control
 *   characters in the reason: what is no answer
 * - lengths of more than 15 digits, sizes of more than 16 or of 2^48: zeros without end are no number
 * - a backslash in an extension, `transfer-encoding` as a trailer: nobody needs them
 * - 101, more than 16 interim answers, one of HTTP/1.0: nothing of the kind was asked for
 *
 * `proxy-connection` is not among the headers, because llhttp still takes it for `connection`.
 */
import { request } from 'node:http';
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../test/support/random.ts';
import { endless, randomLengths, readAnswer, readBytes } from '../../../../test/support/read-answer.ts';

interface Understood {
  status: number;
  body: string;
}

/** What Node's client makes of the bytes; undefined where it refuses them or waits for more. */
function readByNode(answer: Buffer): Promise<Understood | undefined> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write(_chunk, _encoding, done) {
        done();
      },
    });
    const asked = request({ createConnection: () => wire, maxHeaderSize: 1024 * 1024 });
    asked.on('error', () => resolve(undefined));
    asked.on('response', (response) => {
      let body = '';
      response.setEncoding('latin1');
      response.on('data', (text: string) => {
        body += text;
      });
      response.on('error', () => resolve(undefined));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.end();
    wire.push(answer);
    wire.push(null);
  });
}

/** Without what comes behind the end, on which Node's client fails. */
function withoutMore(bytes: Buffer): Buffer {
  let [short, long] = [0, bytes.length];
  while (short < long) {
    const middle = (short + long) >> 1;
    if (readAnswer(bytes.subarray(0, middle), endless(readBytes), true).isMore === undefined)
      short = middle + 1;
    else long = middle;
  }
  return bytes.subarray(0, short);
}

const statusLines = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 503 Busy \xfc',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 199 Odd',
  'HTTP/1.1 999 Odd',
];
const fields = [
  'content-type: text/event-stream',
  'X-Empty:',
  'x-tab:\ta\tb\t',
  'x-high: \xe4\xa0\xff',
  'connection: keep-alive',
  'Connection: close',
  'connection: Upgrade',
  'upgrade: h2c',
  'keep-alive: timeout=5',
  'trailer: x-sum',
  'date: Sun, 15 Nov 2026 12:00:00 GMT',
];
const trailers = [
  'x-sum: 1',
  'X-Empty:',
  'content-length: 3',
  'transfer-encoding: chunked',
  'connection: close',
];
const spice = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  '\0',
  '\xa0',
  '\x7f',
  '\x01',
  ':',
  ';',
  ',',
  '=',
  '"',
  '+',
  '-',
  '0',
  '1',
  'f',
  'F',
  'g',
  'x',
  '0\r\n\r\n',
  'content-length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  ';a=b',
  ';a="b"',
  ' chunked',
  '\u00b5',
];

function createAnswers(seed: number) {
  const random = createRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const some = <T>(list: readonly T[], most: number) =>
    Array.from({ length: below(most + 1) }, () => pick(list));
  const bytes = (most: number) =>
    Array.from({ length: below(most + 1) }, () =>
      random() < 0.2 ? pick(spice) : String.fromCharCode(below(256)),
    ).join('');
  const spaces = () => pick(['', ' ', '\t', '  ']);

  function toBody(): [field: string | undefined, body: string] {
    const way = below(10);
    const data = bytes(30);
    if (way < 3)
      return [`${pick(['content-length', 'Content-Length'])}:${spaces()}${data.length}${spaces()}`, data];
    if (way < 4) return [undefined, data];
    let body = '';
    for (let left = below(6); left > 0; left--) {
      const chunk = bytes(20) || 'x';
      const size = chunk.length.toString(16).padStart(1 + below(4), '0');
      body += `${random() < 0.5 ? size : size.toUpperCase()}${pick(['', '', '', ';a', ';a=b', ';a="b c"', ';a;b=c'])}\r\n${chunk}\r\n`;
    }
    const last =
      random() < 0.3
        ? some(trailers, 2)
            .map((line) => `${line}\r\n`)
            .join('')
        : '';
    return [
      `${pick(['transfer-encoding', 'Transfer-Encoding'])}:${spaces()}${pick(['chunked', 'Chunked'])}${spaces()}`,
      `${body}0\r\n${last}\r\n`,
    ];
  }

  function toAnswer(): string {
    const [field, body] = toBody();
    const lines = [...some(fields, 4), ...(field === undefined ? [] : [field]), ...some(fields, 2)];
    const interim =
      random() < 0.1
        ? pick(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'])
        : '';
    return `${interim}${[pick(statusLines), ...lines].join('\r\n')}\r\n\r\n${body}`;
  }

  function damaged(text: string): string {
    const at = below(text.length + 1);
    switch (below(6)) {
      case 0:
        return text.slice(0, at) + pick(spice) + text.slice(at);
      case 1:
        return text.slice(0, at) + pick(spice) + text.slice(at + 1);
      case 2:
        return text.slice(0, at) + text.slice(at + 1 + below(3));
      case 3:
        return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1);
      case 4: {
        const from = below(text.length);
        return text.slice(0, at) + text.slice(from, from + below(20)) + text.slice(at);
      }
      default: {
        // A line somewhere else.
        const lines = text.split('\r\n');
        lines.splice(below(lines.length), random() < 0.5 ? 1 : 0, pick(lines));
        return lines.join('\r\n');
      }
    }
  }

  return () => {
    let text = toAnswer();
    for (let times = below(4); times > 0; times--) text = damaged(text);
    return { bytes: Buffer.from(text, 'latin1'), lengths: () => randomLengths(random, 1 + below(60)) };
  };
}

describe('a reader of answers', () => {
  it.each([1, 2, 3, 4])(
    "accepts nothing that Node's own does not, and understands it alike (seed %i)",
    { timeout: 60_000 },
    async (seed) => {
      const next = createAnswers(seed);
      let accepted = 0;
      let refused = 0;
      for (let round = 0; round < 1_000; round++) {
        const { bytes, lengths } = next();
        const whole = readAnswer(bytes, endless(readBytes));
        const cut = readAnswer(bytes, lengths());
        const isEnded = whole.isMore !== undefined;
        if (isEnded) accepted += 1;
        else refused += 1;
        const node = isEnded ? await readByNode(whole.isMore ? withoutMore(bytes) : bytes) : undefined;
        const isAlike =
          whole.fault === undefined &&
          cut.fault === undefined &&
          // Bytes behind the end come with it or alone: the connection is given up either way.
          isEnded === (cut.isMore !== undefined) &&
          (!isEnded || (cut.status === whole.status && cut.body === whole.body)) &&
          (!isEnded || (node?.status === whole.status && node?.body === whole.body));
        if (!isAlike) expect.fail(JSON.stringify({ sent: bytes.toString('latin1'), whole, cut, node }));
      }
      // Neither side of the comparison may be empty.
      expect(Math.min(accepted, refused)).toBeGreaterThan(200);
    },
  );
});
