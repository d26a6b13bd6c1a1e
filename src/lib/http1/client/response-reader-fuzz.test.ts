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
import { RandomMessages } from '../../../../test/support/random-messages.ts';
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
  const messages = new RandomMessages(seed, { fields, trailers, spice });

  function toBody(): [field: string | undefined, body: string] {
    const way = messages.below(10);
    if (way < 3) return messages.withLength();
    return way < 4 ? [undefined, messages.bytes(30)] : messages.inChunks();
  }

  function toAnswer(): string {
    const [field, body] = toBody();
    const interim =
      messages.random() < 0.1
        ? messages.pick(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'])
        : '';
    const head = [messages.pick(statusLines), ...messages.fields(field)].join('\r\n');
    return `${interim}${head}\r\n\r\n${body}`;
  }

  return () => ({
    bytes: Buffer.from(messages.damaged(toAnswer()), 'latin1'),
    lengths: () => randomLengths(messages.random, 1 + messages.below(60)),
  });
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
