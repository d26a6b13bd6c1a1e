/** One stream of a file that is being written: its encoder, and the way of its packets into the container. */
import { type CodecContext, type FormatContext, type Frame, Packet, type Stream } from 'node-av/lib';
import { check, isDrained } from './codes.ts';

export class Track {
  readonly #container: FormatContext;
  readonly #context: CodecContext;
  readonly #stream: Stream;
  readonly #packet = new Packet();
  readonly #packetDuration: bigint | undefined;

  /** To be made before the container's header is written. With `packetDuration` every packet lasts so long. */
  constructor(container: FormatContext, context: CodecContext, packetDuration?: bigint) {
    this.#container = container;
    this.#context = context;
    this.#packetDuration = packetDuration;
    this.#stream = container.newStream();
    check(this.#stream.codecpar.fromContext(context), 'describing the stream');
    this.#stream.timeBase = context.timeBase;
    this.#packet.alloc();
  }

  get stream(): Stream {
    return this.#stream;
  }

  /** With null: all that the encoder still holds. */
  async write(frame: Frame | null): Promise<void> {
    const packet = this.#packet;
    check(this.#context.sendFrameSync(frame), 'encoding');
    for (;;) {
      const code = this.#context.receivePacketSync(packet);
      if (isDrained(code)) return;
      check(code, 'encoding');
      packet.streamIndex = this.#stream.index;
      if (this.#packetDuration !== undefined) packet.duration = this.#packetDuration;
      packet.rescaleTs(this.#context.timeBase, this.#stream.timeBase);
      check(await this.#container.interleavedWriteFrame(packet), 'writing');
    }
  }

  close(): void {
    this.#packet.free();
  }
}
