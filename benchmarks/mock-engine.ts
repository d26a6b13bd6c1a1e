/**
 * An engine that costs next to nothing, so that it is not what is measured: bytes made beforehand, on bare
 * sockets. It looks at a request only as far as its length, `stream` and the model's name.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { plainPieces, toAnswer, toEvents } from './traffic.ts';

const headEnd = '\r\n\r\n';
const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n';

const frames = toEvents(plainPieces).map(
  (event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`,
);
const answer = Buffer.from(toWhole(toAnswer(plainPieces)));
const counted = Buffer.from(toWhole('{"count":31,"max_model_len":32768,"tokens":[]}'));
const healthy = Buffer.from(toWhole('{}'));
const burst = Buffer.from(`${streamHead}${frames.join('')}0\r\n\r\n`);
/** One write each: the head goes out with the first event, the terminator with the last. */
const paced = frames.map((frame, i) =>
  Buffer.from(`${i === 0 ? streamHead : ''}${frame}${i === frames.length - 1 ? '0\r\n\r\n' : ''}`),
);

function toWhole(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Paced streams in two groups that take turns every millisecond: 2 ms between two events of a stream. */
const groups: { socket: Socket; at: number }[][] = [[], []];
let turn = 0;

function advance(): void {
  turn = 1 - turn;
  const streams = groups[turn]!;
  let kept = 0;
  for (const stream of streams) {
    if (stream.socket.destroyed) continue;
    stream.socket.write(paced[stream.at++]!);
    if (stream.at < paced.length) streams[kept++] = stream;
  }
  streams.length = kept;
}

function respond(socket: Socket, request: Buffer): void {
  if (request.indexOf('"stream":true') < 0)
    if (request.indexOf('/tokenize') > 0) socket.write(counted);
    else socket.write(request.indexOf('/chat/completions') < 0 ? healthy : answer);
  else if (request.indexOf('"model":"paced"') < 0) socket.write(burst);
  else groups[Math.random() < 0.5 ? 0 : 1]!.push({ socket, at: 0 });
}

/** The bytes of the first request in `bytes`, or undefined while it is not all here. */
function firstRequest(bytes: Buffer): Buffer | undefined {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return undefined;
  const length = /content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0;
  const size = end + headEnd.length + Number(length);
  return bytes.length < size ? undefined : bytes.subarray(0, size);
}

const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer | undefined;
  socket.on('data', (chunk) => {
    let bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    for (let request = firstRequest(bytes); request !== undefined; request = firstRequest(bytes)) {
      respond(socket, request);
      bytes = bytes.subarray(request.length);
    }
    rest = bytes.length === 0 ? undefined : bytes;
  });
  socket.on('error', () => socket.destroy());
});
setInterval(advance, 1);
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
