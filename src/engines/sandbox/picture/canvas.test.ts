import { describe, expect, it } from 'vitest';
import { Canvas } from './canvas.ts';
import { rgb } from './colour.ts';
import { Pen } from './pen.ts';
import { covering, scaled } from './scale.ts';

const red = rgb(0xff0000);
const opacity = ({ data, width }: Canvas, x: number, y: number) => data[(y * width + x) * 4 + 3];
const total = ({ data }: Canvas) => {
  let sum = 0;
  for (let at = 3; at < data.length; at += 4) sum += (data[at] ?? 0) / 255;
  return sum;
};

describe('a shape', () => {
  it('covers exactly what it covers: whole pixels wholly, others in part', () => {
    const canvas = new Canvas(8, 8);
    Pen.on(canvas).rect(1.5, 2, 3, 2.25, red);
    expect(opacity(canvas, 2, 2)).toBe(255);
    expect(opacity(canvas, 1, 2)).toBe(128);
    expect(opacity(canvas, 4, 3)).toBe(128);
    expect(opacity(canvas, 2, 4)).toBe(64);
    expect(opacity(canvas, 6, 2)).toBe(0);
    expect(total(canvas)).toBeCloseTo(3 * 2.25, 1);
  });

  it('is as large as it should be, also turned, and round ones are round', () => {
    const turned = new Canvas(100, 100);
    Pen.on(turned).at({ x: 50, y: 50, scale: 20, turn: 0.13, isMirrored: true }).rect(-1, -0.5, 2, 1, red);
    expect(total(turned)).toBeCloseTo(800, 0);
    const round = new Canvas(100, 100);
    Pen.on(round).circle(50, 50, 40, red);
    expect(total(round) / (Math.PI * 1600)).toBeGreaterThan(0.99);
    expect(total(round) / (Math.PI * 1600)).toBeLessThan(1.001);
    const ring = new Canvas(100, 100);
    Pen.on(ring).ring(50, 50, 30, 10, red);
    expect(opacity(ring, 50, 50)).toBe(0);
    expect(total(ring) / (Math.PI * (35 ** 2 - 25 ** 2))).toBeCloseTo(1, 1);
  });

  it('beyond the edges is cut there', () => {
    const canvas = new Canvas(10, 10);
    Pen.on(canvas).circle(0, 0, 200, red);
    expect(total(canvas)).toBe(100);
    Pen.on(canvas).rect(20, 20, 5, 5, red);
    Pen.on(canvas).rect(-9, -9, 5, 5, red);
    expect(total(canvas)).toBe(100);
  });

  it('leaves nothing behind for the next one', () => {
    const canvas = new Canvas(40, 40);
    const pen = Pen.on(canvas);
    for (let x = -20; x < 60; x += 3) pen.ellipse(x, 20, 9, 3, rgb(0xff0000, 0), x / 60);
    expect(total(canvas)).toBe(0);
  });
});

describe('another size', () => {
  const chequered = new Canvas(4, 4);
  chequered.data.fill(255);
  for (let at = 0; at < 16; at++) if ((at + (at >> 2)) % 2 === 0) chequered.data.set([0, 0, 0], at * 4);

  it('is the same picture when it has that size already', () => {
    expect(covering(chequered, 4, 4).data).toEqual(chequered.data);
    expect(covering(chequered, 4, 4).data).not.toBe(chequered.data);
  });

  it('averages what gets smaller, and takes no colour from clear pixels', () => {
    const [r, , , a] = scaled(chequered, 1, 1).data;
    expect(r).toBeGreaterThan(118);
    expect(r).toBeLessThan(137);
    expect(a).toBe(255);
    const half = new Canvas(2, 1, Uint8Array.from([200, 100, 50, 255, 0, 0, 0, 0]));
    expect([...scaled(half, 1, 1).data]).toEqual([200, 100, 50, 128]);
  });

  it('of another shape shows the middle', () => {
    const wide = new Canvas(6, 2);
    for (let at = 0; at < 12; at++) wide.data.set([(at % 6) * 50, 0, 0, 255], at * 4);
    const { data } = covering(wide, 2, 2);
    expect([data[0], data[4]]).toEqual([100, 150]);
  });
});
