/** What flies, or once did. */
import { darken, fade, lighten, mix, rgb, white } from '../colour.ts';
import type { Drawing } from './look.ts';

const ink = rgb(0x1d1b22);

export const drawBird: Drawing = (pen, { main }) => {
  const dark = darken(main, 0.3);
  pen.polygon(
    [
      [-0.28, -0.42],
      [-0.62, -0.62],
      [-0.56, -0.44],
      [-0.62, -0.32],
    ],
    dark,
  );
  pen.blob(
    [
      [-0.34, -0.45],
      [-0.1, -0.64],
      [0.2, -0.66],
      [0.34, -0.5],
      [0.2, -0.3],
      [-0.1, -0.28],
    ],
    { from: lighten(main, 0.12), to: dark, line: [0, -0.7, 0, -0.25] },
  );
  pen.ellipse(0.08, -0.36, 0.2, 0.1, lighten(main, 0.5));
  pen.circle(0.3, -0.62, 0.15, main);
  pen.polygon(
    [
      [0.42, -0.66],
      [0.6, -0.6],
      [0.42, -0.56],
    ],
    rgb(0xf2a32b),
  );
  pen.circle(0.34, -0.65, 0.032, ink);
  pen.circle(0.33, -0.662, 0.011, white);
  pen.blob(
    [
      [-0.12, -0.52],
      [0.12, -0.56],
      [0.06, -0.8],
      [-0.14, -1.02],
      [-0.26, -0.94],
      [-0.24, -0.7],
    ],
    dark,
  );
  for (const lift of [0, 0.12])
    pen.curve(
      [
        [-0.06, -0.58 - lift],
        [-0.16, -0.72 - lift],
      ],
      0.018,
      lighten(dark, 0.25),
    );
};

export const drawOwl: Drawing = (pen, { main }) => {
  const dark = darken(main, 0.3);
  for (const side of [-1, 1])
    pen.polygon(
      [
        [side * 0.24, -0.72],
        [side * 0.27, -1],
        [side * 0.08, -0.85],
      ],
      dark,
    );
  pen.blob(
    [
      [-0.28, -0.1],
      [-0.31, -0.45],
      [-0.25, -0.8],
      [0, -0.92],
      [0.25, -0.8],
      [0.31, -0.45],
      [0.28, -0.1],
      [0, 0],
    ],
    { from: main, to: dark, line: [0, -0.9, 0, 0] },
  );
  pen.ellipse(0, -0.28, 0.18, 0.24, lighten(main, 0.45));
  for (let row = 0; row < 4; row++) {
    for (let column = -2; column <= 2; column++)
      pen.curve(
        [
          [column * 0.07 - 0.025, -0.4 + row * 0.08],
          [column * 0.07, -0.37 + row * 0.08],
          [column * 0.07 + 0.025, -0.4 + row * 0.08],
        ],
        0.011,
        dark,
      );
  }
  for (const side of [-1, 1]) {
    pen.blob(
      [
        [side * 0.24, -0.55],
        [side * 0.37, -0.35],
        [side * 0.27, -0.06],
        [side * 0.2, -0.3],
      ],
      dark,
    );
    pen.circle(side * 0.12, -0.69, 0.125, lighten(main, 0.55));
    pen.circle(side * 0.12, -0.69, 0.088, rgb(0xf3b93a));
    pen.circle(side * 0.12, -0.69, 0.05, ink);
    pen.circle(side * 0.1, -0.71, 0.018, white);
    for (const toe of [-0.03, 0.02]) pen.ellipse(side * 0.1 + toe, -0.01, 0.025, 0.035, rgb(0xe0962b));
  }
  pen.polygon(
    [
      [-0.04, -0.63],
      [0.04, -0.63],
      [0, -0.54],
    ],
    rgb(0xe0962b),
  );
};

export const drawPenguin: Drawing = (pen, { main }) => {
  const coat = mix(main, rgb(0x23283a), 0.75);
  for (const side of [-1, 1]) {
    pen.ellipse(side * 0.1, -0.02, 0.1, 0.035, rgb(0xf0a02b));
    pen.blob(
      [
        [side * 0.22, -0.68],
        [side * 0.38, -0.42],
        [side * 0.33, -0.22],
        [side * 0.22, -0.4],
      ],
      darken(coat, 0.2),
    );
  }
  pen.ellipse(0, -0.45, 0.27, 0.45, { from: lighten(coat, 0.15), to: coat, line: [-0.3, 0, 0.3, 0] });
  pen.ellipse(0, -0.4, 0.19, 0.36, white);
  pen.circle(0, -0.82, 0.17, coat);
  for (const side of [-1, 1]) {
    pen.ellipse(side * 0.075, -0.81, 0.08, 0.1, white);
    pen.circle(side * 0.06, -0.84, 0.024, ink);
  }
  pen.polygon(
    [
      [-0.045, -0.8],
      [0.045, -0.8],
      [0, -0.72],
    ],
    rgb(0xf0a02b),
  );
};

export const drawButterfly: Drawing = (pen, { main, accent }) => {
  for (const side of [-1, 1]) {
    pen.blob(
      [
        [side * 0.03, -0.55],
        [side * 0.25, -0.95],
        [side * 0.52, -0.95],
        [side * 0.5, -0.62],
        [side * 0.2, -0.48],
      ],
      { from: lighten(main, 0.2), to: darken(main, 0.2), line: [0, 0, side * 0.5, 0] },
    );
    pen.blob(
      [
        [side * 0.03, -0.48],
        [side * 0.3, -0.48],
        [side * 0.4, -0.25],
        [side * 0.25, -0.08],
        [side * 0.08, -0.25],
      ],
      { from: lighten(accent, 0.2), to: darken(accent, 0.15), line: [0, 0, side * 0.4, 0] },
    );
    pen.circle(side * 0.36, -0.78, 0.07, fade(white, 0.85));
    pen.circle(side * 0.36, -0.78, 0.035, accent);
    pen.circle(side * 0.24, -0.28, 0.05, fade(white, 0.75));
    pen.curve(
      [
        [0, -0.72],
        [side * 0.07, -0.9],
        [side * 0.13, -0.97],
      ],
      0.012,
      ink,
    );
    pen.circle(side * 0.13, -0.97, 0.018, ink);
  }
  pen.ellipse(0, -0.48, 0.035, 0.25, ink);
  pen.circle(0, -0.73, 0.045, ink);
};
