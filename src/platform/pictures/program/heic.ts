/**
 * HEIC and HEIF through libheif, which alone decodes them: as WebAssembly, with a fresh memory for each picture and an
 * end to how far it grows.
 */
import { createRequire } from 'node:module';
import { Problem } from '../../media/program/problem.ts';

export interface HeicPixels {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly data: Buffer;
}

/** `check` may refuse a size before anything is decoded. */
export type ReadHeic = (
  bytes: Buffer,
  check: (size: { width: number; height: number }) => void,
) => Promise<HeicPixels>;

/** The part of libheif's binding that is used. Pointers are numbers to us. */
interface Libheif {
  heif_context_alloc(): unknown;
  heif_context_read_from_memory(context: unknown, bytes: Uint8Array): { code: unknown };
  heif_js_context_get_primary_image_handle(context: unknown): HandleOrError;
  heif_image_handle_get_width(handle: unknown): number;
  heif_image_handle_get_height(handle: unknown): number;
  heif_image_handle_has_alpha_channel(handle: unknown): number;
  heif_js_decode_image2(handle: unknown, space: unknown, chroma: unknown): Promise<Decoded> | Decoded;
  readonly heif_error_code: { readonly heif_error_Ok: unknown };
  readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown };
  readonly heif_chroma: {
    readonly heif_chroma_interleaved_RGB: unknown;
    readonly heif_chroma_interleaved_RGBA: unknown;
  };
}

type HandleOrError = { readonly code?: unknown } | null | undefined;

interface Decoded {
  readonly code?: unknown;
  readonly channels?: readonly {
    readonly width: number;
    readonly height: number;
    readonly stride: number;
    /** A window into its memory. */
    readonly data: Uint8Array;
  }[];
}

/** Enough for 4096 × 4096 pixels with opacity; the picture itself stays in there until it is written. */
const mostMemoryBytes = 192 * 1024 * 1024;
const pageBytes = 64 * 1024;

export function loadHeic(): ReadHeic {
  const require = createRequire(import.meta.resolve('heic-decode'));
  const createLibheif = require('libheif-js/libheif-wasm/libheif-bundle.js') as () => Libheif;
  limitGrowth();
  return async (bytes, check) => {
    const heif = createLibheif();
    const context = heif.heif_context_alloc();
    if (heif.heif_context_read_from_memory(context, bytes).code !== heif.heif_error_code.heif_error_Ok)
      throw new Problem('is broken: it cannot be read as heic');
    const handle = heif.heif_js_context_get_primary_image_handle(context);
    if (!handle || handle.code !== undefined) throw new Problem('has no picture in it');
    check({
      width: heif.heif_image_handle_get_width(handle),
      height: heif.heif_image_handle_get_height(handle),
    });
    const channels = heif.heif_image_handle_has_alpha_channel(handle) ? 4 : 3;
    const { heif_chroma_interleaved_RGB: rgb, heif_chroma_interleaved_RGBA: rgba } = heif.heif_chroma;
    const chroma = channels === 4 ? rgba : rgb;
    const decoded = await heif.heif_js_decode_image2(
      handle,
      heif.heif_colorspace.heif_colorspace_RGB,
      chroma,
    );
    const plane = decoded?.channels?.[0];
    if (plane === undefined) throw new Problem('is broken: it cannot be decoded as heic');
    return { width: plane.width, height: plane.height, channels, data: toRows(plane, channels) };
  };
}

/** Without the gaps between rows, in place: a copy would be another 50 MB. */
function toRows(
  { data, width, height, stride }: NonNullable<Decoded['channels']>[number],
  channels: number,
): Buffer {
  const rowBytes = width * channels;
  if (stride !== rowBytes)
    for (let row = 1; row < height; row++)
      data.copyWithin(row * rowBytes, row * stride, row * stride + rowBytes);
  return Buffer.from(data.buffer, data.byteOffset, rowBytes * height);
}

/** As far as it is needed here: the types of Node leave it out. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** It decodes without a pause, so nobody could stop it in the middle: past the limit an allocation fails. */
function limitGrowth(): void {
  const { Memory } = WebAssembly as unknown as { Memory: { prototype: WasmMemory } };
  const { grow } = Memory.prototype;
  Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * pageBytes > mostMemoryBytes)
      throw new RangeError('a picture may not take more memory');
    return grow.call(this, pages);
  };
}
