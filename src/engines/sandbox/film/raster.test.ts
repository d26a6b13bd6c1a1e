import { describe, expect, it } from 'vitest';
import { Layer } from './layer.ts';
import { Raster } from './raster.ts';

/** Of any size, each pixel its own colour, opacity as given. */
function picture(width: number, height: number, opacity: (x: number, y: number) => number = () => 255) {
  const data = new Uint8Array(width * height * 4);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) data.set([x * 9, y * 11, (x * y) % 256, opacity(x, y)], at);
  }
  return { width, height, data };
}
const pixel = (raster: Raster, x: number, y: number) => [
  ...raster.bytes.subarray((y * raster.width + x) * 4, (y * raster.width + x) * 4 + 4),
];
const whole = { x: 0, y: 0, step: 1 };

describe('a raster', () => {
  it('shows a layer of its own size exactly', () => {
    const source = picture(20, 12);
    const raster = new Raster(20, 12);
    raster.layer(Layer.from(source), whole);
    expect(raster.bytes).toEqual(source.data);
  });

  it('shows what lies between four pixels as their mean', () => {
    const layer = Layer.from({
      width: 2,
      height: 2,
      data: Uint8Array.from([0, 0, 0, 255, 200, 0, 0, 255, 0, 100, 0, 255, 200, 100, 40, 255]),
    });
    const raster = new Raster(1, 1);
    raster.layer(layer, { x: 0.5, y: 0.5, step: 1 });
    expect(pixel(raster, 0, 0)).toEqual([100, 50, 10, 255]);
  });

  it('never looks beyond a layer, wherever the view is', () => {
    const raster = new Raster(16, 10);
    raster.layer(Layer.from(picture(20, 12)), { x: 900, y: -40, step: 1.2, sway: () => -3_000 });
    expect(pixel(raster, 15, 9)[3]).toBe(255);
    raster.layer(Layer.from(picture(20, 12)), { x: -900, y: 400, step: 0.4, sway: () => 3_000 });
    expect(pixel(raster, 0, 0)[3]).toBe(255);
  });

  it('lays half clear colours over what is there, and leaves it alone where they are clear', () => {
    const raster = new Raster(20, 12);
    raster.layer(Layer.from(picture(20, 12)), whole);
    const under = pixel(raster, 4, 4);
    const data = new Uint8Array(20 * 12 * 4);
    data.set([255, 255, 255, 128], (4 * 20 + 5) * 4);
    raster.layer(Layer.from({ width: 20, height: 12, data }), whole);
    expect(pixel(raster, 4, 4)).toEqual(under);
    const [r = 0, g = 0, b = 0, a] = pixel(raster, 5, 4);
    expect([r, g, b].map((part, at) => Math.abs(part - (255 + [45, 44, 20][at]!) / 2) < 3)).toEqual([
      true,
      true,
      true,
    ]);
    expect(a).toBe(255);
  });

  it('puts a sprite where its placement says, turned and in any strength', () => {
    const sprite = Layer.from({ width: 3, height: 3, data: new Uint8Array(36).fill(255) });
    const raster = new Raster(12, 12);
    raster.pixels.fill(0xff << 24);
    raster.sprite(sprite, { a: 1, b: 0, c: 0, d: 1, e: 4, f: 5 }, 0.5);
    expect(pixel(raster, 5, 6)[0]).toBeGreaterThan(120);
    expect(pixel(raster, 5, 6)[0]).toBeLessThan(135);
    expect(pixel(raster, 3, 6)).toEqual([0, 0, 0, 255]);
    // A quarter turn to the left of its corner.
    raster.sprite(sprite, { a: 0, b: 1, c: -1, d: 0, e: 3, f: 0 });
    expect(pixel(raster, 1, 1)).toEqual([255, 255, 255, 255]);
    // Far outside, and without any size: nothing happens.
    raster.sprite(sprite, { a: 1, b: 0, c: 0, d: 1, e: 400, f: 400 });
    raster.sprite(sprite, { a: 0, b: 0, c: 0, d: 0, e: 4, f: 4 });
  });

  it('goes over into another frame by halves', () => {
    const [one, other] = [new Raster(2, 1), new Raster(2, 1)];
    one.bytes.fill(0);
    other.bytes.fill(200);
    one.dissolve(other, 0);
    expect(one.bytes[0]).toBe(0);
    one.dissolve(other, 0.5);
    expect(one.bytes[0]).toBe(100);
    one.dissolve(other, 1);
    expect(one.bytes).toEqual(other.bytes);
  });

  it('does not grow lighter than white', () => {
    const raster = new Raster(8, 8);
    raster.bytes.fill(250);
    raster.glow(4, 4, 3, { r: 255, g: 255, b: 255 }, 2);
    raster.tint({ r: 255, g: 255, b: 255 }, 3);
    expect(pixel(raster, 4, 4)).toEqual([255, 255, 255, 255]);
  });
});

describe('a layer', () => {
  it('that has to cover is laid on white', () => {
    const layer = Layer.covering({ width: 1, height: 1, data: Uint8Array.from([0, 0, 0, 0]) });
    const raster = new Raster(1, 1);
    raster.layer(layer, whole);
    expect(pixel(raster, 0, 0)).toEqual([255, 255, 255, 255]);
  });
});
