/** What drives, flies and floats. */
import { darken, fade, lighten, rgb, white } from '../colour.ts';
import type { Pen } from '../pen.ts';
import type { Drawing } from './look.ts';
import { iron, lamp, pane } from './look.ts';

function wheel(pen: Pen, x: number, y: number, radius: number): void {
  pen.circle(x, y, radius, iron);
  pen.circle(x, y, radius * 0.58, rgb(0xc3c8d0));
  pen.circle(x, y, radius * 0.2, iron);
}

export const drawCar: Drawing = (pen, look) => {
  const { main, dark } = look;
  if (dark > 0.3)
    pen.polygon(
      [
        [0.86, -0.36],
        [1.5, -0.5],
        [1.5, -0.05],
      ],
      { from: fade(lamp, 0.55), to: fade(lamp, 0), line: [0.86, 0, 1.5, 0] },
    );
  pen.blob(
    [
      [-0.5, -0.5],
      [-0.36, -0.88],
      [-0.1, -0.94],
      [0.22, -0.92],
      [0.5, -0.52],
    ],
    darken(main, 0.1),
  );
  pen.blob(
    [
      [-0.4, -0.53],
      [-0.29, -0.8],
      [-0.04, -0.85],
      [-0.04, -0.53],
    ],
    pane(look),
  );
  pen.blob(
    [
      [0.02, -0.53],
      [0.02, -0.85],
      [0.2, -0.83],
      [0.39, -0.53],
    ],
    pane(look),
  );
  pen.blob(
    [
      [-0.86, -0.2],
      [-0.86, -0.46],
      [-0.5, -0.56],
      [0.4, -0.56],
      [0.8, -0.46],
      [0.9, -0.22],
      [0.7, -0.14],
      [-0.7, -0.14],
    ],
    { from: lighten(main, 0.2), to: darken(main, 0.25), line: [0, -0.6, 0, -0.12] },
  );
  pen.stroke(
    [
      [-0.8, -0.34],
      [0.82, -0.34],
    ],
    0.014,
    fade(white, 0.6),
  );
  pen.stroke(
    [
      [0, -0.54],
      [0, -0.2],
    ],
    0.01,
    fade(iron, 0.5),
  );
  pen.rect(-0.16, -0.44, 0.1, 0.025, iron, 0.01);
  pen.ellipse(0.82, -0.38, 0.055, 0.045, lamp);
  pen.rect(-0.86, -0.44, 0.05, 0.08, rgb(0xc4241f), 0.01);
  for (const x of [-0.5, 0.5]) wheel(pen, x, -0.15, 0.165);
};

export const drawTrain: Drawing = (pen, look) => {
  const { main, accent } = look;
  for (const [x, r] of [
    [0.52, 0.09],
    [0.42, 0.12],
    [0.26, 0.15],
  ] as const)
    pen.circle(x - 0.1, -0.98 - r * 0.9, r, fade(white, 0.75));
  pen.rect(-0.95, -0.08, 1.9, 0.03, iron);
  pen.rect(-0.9, -0.62, 0.62, 0.46, accent, 0.03);
  for (const x of [-0.8, -0.6, -0.4]) pen.rect(x - 0.05, -0.52, 0.13, 0.16, pane(look), 0.01);
  pen.rect(-0.28, -0.24, 0.08, 0.05, iron);
  pen.rect(-0.2, -0.8, 0.38, 0.64, main, 0.02);
  pen.rect(-0.24, -0.85, 0.46, 0.07, darken(main, 0.35), 0.03);
  pen.rect(-0.11, -0.7, 0.2, 0.2, pane(look), 0.01);
  pen.rect(
    0.15,
    -0.52,
    0.6,
    0.36,
    { from: lighten(main, 0.25), to: darken(main, 0.25), line: [0, -0.52, 0, -0.16] },
    0.06,
  );
  pen.polygon(
    [
      [0.5, -0.5],
      [0.46, -0.82],
      [0.68, -0.82],
      [0.64, -0.5],
    ],
    iron,
  );
  pen.rect(0.27, -0.6, 0.13, 0.1, accent, 0.05);
  pen.circle(0.77, -0.4, 0.05, lamp);
  pen.polygon(
    [
      [0.72, -0.2],
      [0.98, -0.07],
      [0.72, -0.07],
    ],
    iron,
  );
  for (const x of [-0.78, -0.42]) wheel(pen, x, -0.13, 0.1);
  for (const x of [-0.06, 0.26, 0.56]) wheel(pen, x, -0.14, 0.12);
  pen.stroke(
    [
      [-0.06, -0.14],
      [0.56, -0.14],
    ],
    0.03,
    rgb(0xb9bfc9),
  );
};

export const drawRocket: Drawing = (pen, { main, accent }) => {
  pen.blob(
    [
      [-0.1, -0.2],
      [-0.13, -0.06],
      [0, 0.12],
      [0.13, -0.06],
      [0.1, -0.2],
    ],
    rgb(0xff8b2c),
  );
  pen.blob(
    [
      [-0.05, -0.2],
      [-0.06, -0.08],
      [0, 0.03],
      [0.06, -0.08],
      [0.05, -0.2],
    ],
    rgb(0xffe477),
  );
  for (const side of [-1, 1])
    pen.blob(
      [
        [side * 0.12, -0.48],
        [side * 0.27, -0.26],
        [side * 0.28, -0.12],
        [side * 0.1, -0.24],
      ],
      accent,
    );
  pen.blob(
    [
      [0, -1],
      [0.13, -0.8],
      [0.16, -0.5],
      [0.11, -0.22],
      [-0.11, -0.22],
      [-0.16, -0.5],
      [-0.13, -0.8],
    ],
    { from: rgb(0xf6f7fa), to: rgb(0xa9b3c4), line: [-0.15, 0, 0.17, 0] },
  );
  pen.blob(
    [
      [0, -1],
      [0.09, -0.87],
      [0.125, -0.77],
      [-0.125, -0.77],
      [-0.09, -0.87],
    ],
    main,
  );
  pen.circle(0, -0.6, 0.075, main);
  pen.circle(0, -0.6, 0.055, {
    from: rgb(0xd5f0ff),
    to: rgb(0x3a78b4),
    centre: [-0.02, -0.62],
    radius: 0.08,
  });
  pen.rect(-0.13, -0.35, 0.26, 0.03, main);
  pen.rect(-0.02, -0.36, 0.04, 0.22, accent, 0.02);
};

export const drawBalloon: Drawing = (pen, { main, accent }) => {
  for (const x of [-0.09, 0.09])
    pen.stroke(
      [
        [x * 1.7, -0.4],
        [x, -0.15],
      ],
      0.008,
      iron,
    );
  pen.rect(-0.1, -0.16, 0.2, 0.15, { from: rgb(0xc18a4f), to: rgb(0x7c5228), line: [-0.1, 0, 0.1, 0] }, 0.02);
  const envelope = (share: number, ink: Parameters<Pen['blob']>[1]) =>
    pen.blob(
      [
        [0, -1],
        [0.28 * share, -0.9],
        [0.36 * share, -0.67],
        [0.25 * share, -0.46],
        [0.11 * share, -0.33],
        [-0.11 * share, -0.33],
        [-0.25 * share, -0.46],
        [-0.36 * share, -0.67],
        [-0.28 * share, -0.9],
      ],
      ink,
    );
  envelope(1, { from: lighten(main, 0.2), to: darken(main, 0.2), line: [-0.36, 0, 0.36, 0] });
  envelope(0.72, accent);
  envelope(0.38, { from: lighten(main, 0.2), to: darken(main, 0.1), line: [-0.14, 0, 0.14, 0] });
  envelope(0.12, lighten(accent, 0.15));
  pen.ellipse(-0.15, -0.82, 0.05, 0.09, fade(white, 0.4), 0.1);
};
